"""A LangChain agent that remembers across threads and processes. Runs offline, with a scripted model.

usage: python examples/with_langchain.py [MEMORY_FOLDER]

needs: pip install 'neurogated[langchain]'. Replace `Script` by your own chat model.
"""

import sys
import tempfile
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langgraph.checkpoint.memory import InMemorySaver

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.langchain_agents import MemoryMiddleware


class Script(GenericFakeChatModel):
    """A chat model that prints its instructions and says what a script tells it."""

    def _generate(self, messages: list[Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        print("\n".join(message.text for message in messages if message.type == "system") or "(no memories)")
        return super()._generate(messages, *args, **kwargs)


def main(folder: str) -> None:
    """Tell the agent something in one thread, and ask for it in another one."""
    with NeuroGraphMemory(MemoryConfig(save_dir=folder)) as memory:
        model = Script(messages=iter(["A fine name.", "It is called Ada.", "I do not know."]))
        agent = create_agent(model, middleware=[MemoryMiddleware(memory)], checkpointer=InMemorySaver())
        for user, thread, words in (
            ("ana", "monday", "My heron is called Ada."),
            ("ana", "tuesday", "What is my heron called?"),
            ("bob", "tuesday again", "What is my heron called?"),
        ):
            print(f"\n{user}: {words}")
            run: Any = {"configurable": {"thread_id": thread, "user_id": user}}
            print(agent.invoke({"messages": [("user", words)]}, run)["messages"][-1].text)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(temporary)
