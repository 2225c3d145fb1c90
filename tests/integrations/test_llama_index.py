"""LlamaIndex's retriever and memory block over a memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory
from sqlalchemy.ext.asyncio import create_async_engine

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.llama_index import MemoryBlock, MemoryNodeRetriever

QUESTION = "What is the name of my heron?"
FACT = "The name of my heron is Ada."


def test_a_retriever_returns_nodes_of_its_user_without_the_question_that_is_asked(memory: NeuroGraphMemory) -> None:
    memory.add(FACT, user_id="ana", title="Birds", metadata={"place": "pond"})
    memory.add("The name of my heron is Bo.", user_id="bob")
    memory.add({"role": "user", "content": QUESTION}, user_id="ana", session_id="tuesday")
    ana = MemoryNodeRetriever(memory, user_id="ana", session_id="tuesday", options={"top_n": 3})
    (found,) = ana.retrieve(QUESTION)
    assert (found.text, found.score is not None) == (FACT, True)
    assert {"place": "pond", "title": "Birds"}.items() <= found.metadata.items()
    (found,) = asyncio.run(MemoryNodeRetriever(memory, user_id="bob").aretrieve(QUESTION))
    assert "Bo" in found.text


@asynccontextmanager
async def _memory(memory: NeuroGraphMemory, session: str, user: str) -> AsyncIterator[Memory]:
    engine = create_async_engine("sqlite+aiosqlite:///:memory:")
    yield Memory.from_defaults(
        session_id=session,
        token_limit=60,
        token_flush_size=20,
        chat_history_token_ratio=0.5,
        memory_blocks=[MemoryBlock(memory=memory, user_id=user, token_budget=500)],
        tokenizer_fn=str.split,
        async_engine=engine,
    )
    await engine.dispose()


def test_what_leaves_the_short_term_memory_is_recalled_in_another_session(config: MemoryConfig) -> None:
    async def fill(memory: NeuroGraphMemory) -> None:
        async with _memory(memory, "monday", "ana") as theirs:
            await theirs.aput_messages([ChatMessage(FACT), ChatMessage("Noted.", role="assistant")])
            for number in range(12):
                await theirs.aput(ChatMessage(f"This is message number {number} of a long talk."))
                await theirs.aput(ChatMessage("I see.", role="assistant"))

    async def ask(memory: NeuroGraphMemory, user: str) -> str:
        async with _memory(memory, "tuesday", user) as theirs:
            await theirs.aput(ChatMessage(QUESTION))
            return "\n".join(str(one.content) for one in await theirs.aget() if one.role == "system")

    with NeuroGraphMemory(config) as memory:
        asyncio.run(fill(memory))
        stored = memory.find(user_id="ana", session_id="monday")
        assert stored[0].content == FACT
        assert len({one.id for one in stored}) == len(stored)
    with NeuroGraphMemory(config) as memory:
        told = asyncio.run(ask(memory, "ana"))
        assert "Ada" in told
        assert QUESTION not in told
        assert asyncio.run(ask(memory, "bob")) == ""


def test_without_a_question_nothing_is_recalled_also_after_the_memory_was_closed(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        block = MemoryBlock(memory=memory, user_id="ana")
    for messages in ([], [ChatMessage("Hello.", role="assistant")], [ChatMessage(" ")]):
        assert asyncio.run(block.aget(messages)) == ""
