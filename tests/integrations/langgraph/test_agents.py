"""The stores in agents of LangChain and in LangMem."""

from __future__ import annotations

from typing import Any, Self

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.store.base import BaseStore
from langmem import create_manage_memory_tool, create_memory_store_manager, create_search_memory_tool

from neurogated import MemoryConfig
from neurogated.integrations.langgraph import AsyncNeuroStore, NeuroStore

CONFIG = MemoryConfig(embedding_name="hash")
# Importing LangMem takes twenty seconds.
pytestmark = pytest.mark.nightly

PLACE = ("notes", "{user}")
RUN: Any = {"configurable": {"user": "ana"}}
HERON = "Ana's heron is called Ada."


class Script(GenericFakeChatModel):
    """Calls tools as a script tells it."""

    def bind_tools(self, *_: Any, **__: Any) -> Self:  # noqa: ANN401 - a fake
        return self


def call(name: str, **arguments: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call of {name}"}])


def agent_with(store: BaseStore) -> Any:  # noqa: ANN401 - a compiled graph
    script = [call("manage_memory", content=HERON), call("search_memory", query="heron"), AIMessage("Ada.")]
    tools = [create_manage_memory_tool(PLACE), create_search_memory_tool(PLACE)]
    return create_agent(Script(messages=iter(script)), tools=tools, store=store)


def test_an_agent_and_its_tools_use_the_store() -> None:
    with NeuroStore.from_conn_string(":memory:", config=CONFIG) as store:
        said = agent_with(store).invoke({"messages": [("user", HERON)]}, RUN)["messages"]
        assert HERON in said[-2].text
        assert [item.value for item in store.search(("notes", "ana"))] == [{"content": HERON}]


@pytest.mark.asyncio
async def test_an_asynchronous_agent_and_its_tools_use_the_store() -> None:
    async with AsyncNeuroStore.from_conn_string(":memory:", config=CONFIG) as store:
        said = (await agent_with(store).ainvoke({"messages": [("user", HERON)]}, RUN))["messages"]
        assert HERON in said[-2].text
        assert [item.value for item in await store.asearch(("notes", "ana"))] == [{"content": HERON}]


def test_the_manager_of_langmem_uses_the_store() -> None:
    with NeuroStore.from_conn_string(":memory:", config=CONFIG) as store:
        model = Script(messages=iter([call("Memory", content="Ana moved to Lyon."), AIMessage("Done.")]))
        manager = create_memory_store_manager(model, namespace=PLACE, store=store, enable_inserts=True)
        manager.invoke({"messages": [{"role": "user", "content": "I moved to Lyon."}]}, RUN)
        (item,) = store.search(("notes", "ana"), query="Lyon")
        assert item.value["content"] == {"content": "Ana moved to Lyon."}
