"""LangMem's tools and its memory manager over a memory as the store. Runs offline, with a scripted model.

usage: python examples/langmem_tools.py [MEMORY_FOLDER]

needs: pip install 'neurogated[langgraph]' langchain langmem. Replace `Script` by your own chat model.
"""

import sys
import tempfile
from typing import Any, Self

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langmem import create_manage_memory_tool, create_memory_store_manager, create_search_memory_tool

from neurogated.integrations.langgraph import NeuroStore

NOTES, FACTS = ("notes", "{user}"), ("facts", "{user}")


class Script(GenericFakeChatModel):
    """A chat model that calls tools as a script tells it."""

    def bind_tools(self, *_: Any, **__: Any) -> Self:  # noqa: ANN401
        """Return the model."""
        return self


def call(name: str, **arguments: str) -> AIMessage:
    """Return the message by which a model calls a tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call of {name}"}])


def main(folder: str) -> None:
    """Let an agent remember by its tools, and a manager remember what was said."""
    run: Any = {"configurable": {"user": "ana"}}
    with NeuroStore.from_conn_string(folder, user_label=1) as store:
        tools = [create_manage_memory_tool(NOTES), create_search_memory_tool(NOTES)]
        script = iter([
            call("manage_memory", action="create", content="Ana's heron is called Ada."),
            call("search_memory", query="heron"),
            "It is called Ada.",
        ])  # fmt: skip
        agent = create_agent(Script(messages=script), tools=tools, store=store)
        said = agent.invoke({"messages": [("user", "My heron is called Ada. What is it called?")]}, run)["messages"]
        print(said[-1].text)
        judging = Script(messages=iter([call("Memory", content="Ana moved to Lyon."), "done"]))
        manager = create_memory_store_manager(judging, namespace=FACTS, store=store, enable_inserts=True)
        manager.invoke({"messages": [{"role": "user", "content": "I moved to Lyon."}]}, run)
        for item in store.search((), query="Where does Ana live?"):
            print(f"{item.score:.2f} {item.value}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(temporary)
