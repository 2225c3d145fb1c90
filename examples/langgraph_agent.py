"""A LangGraph agent whose tools use a memory as the store. Runs offline, with a scripted model.

usage: python examples/langgraph_agent.py [MEMORY_FOLDER]

needs: pip install 'neurogated[langgraph]' langchain. Replace `Script` by your own chat model.
"""

import sys
import tempfile
from typing import Any, Self

from langchain.agents import create_agent
from langchain.tools import ToolRuntime, tool
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from neurogated.integrations.langgraph import NeuroStore


class Script(GenericFakeChatModel):
    """A chat model that calls tools as a script tells it."""

    def bind_tools(self, *_: Any, **__: Any) -> Self:  # noqa: ANN401
        """Return the model."""
        return self


@tool
def remember(key: str, text: str, runtime: ToolRuntime) -> str:
    """Remember a text under a key."""
    runtime.store.put(("users", "ana", "notes"), key, {"text": text})
    return "remembered"


@tool
def recall(question: str, runtime: ToolRuntime) -> str:
    """Return what is known about a question."""
    found = runtime.store.search(("users", "ana"), query=question, limit=1)
    return "\n".join(item.value["text"] for item in found)


def call(name: str, **arguments: str) -> AIMessage:
    """Return the message by which a model calls a tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call of {name}"}])


def main(folder: str) -> None:
    """Let the agent remember two texts and recall one."""
    script = iter([
        call("remember", key="heron", text="Ana's heron is called Ada."),
        call("remember", key="boat", text="Ana's boat lies in the harbour of Lyon."),
        call("recall", question="What is the heron called?"),
        "It is called Ada.",
    ])  # fmt: skip
    with NeuroStore.from_conn_string(folder) as store:
        agent = create_agent(Script(messages=script), tools=[remember, recall], store=store)
        run = agent.invoke({"messages": [("user", "Note my heron and my boat. What is my heron called?")]})
        for message in run["messages"]:
            print(f"{message.type}: {message.text or message.tool_calls}")
        print(store.list_namespaces())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(temporary)
