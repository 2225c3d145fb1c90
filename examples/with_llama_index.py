"""LlamaIndex's memory with a block of memories. Runs offline, with a model of LlamaIndex that repeats its prompt.

usage: python examples/with_llama_index.py [MEMORY_FOLDER]

needs: pip install 'neurogated[llama-index]'. Replace `MockLLM` by your own model.
"""

import asyncio
import sys
import tempfile

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import Memory
from sqlalchemy.ext.asyncio import create_async_engine

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.llama_index import MemoryBlock


async def talk(memory: NeuroGraphMemory, user: str, day: str, *said: str) -> None:
    """Run a conversation. The small limits make the short-term memory overflow soon."""
    database = create_async_engine("sqlite+aiosqlite:///:memory:")
    block = MemoryBlock(memory=memory, user_id=user, token_budget=200)
    session = Memory.from_defaults(
        session_id=f"{user} {day}",
        token_limit=40,
        token_flush_size=8,
        chat_history_token_ratio=0.5,
        memory_blocks=[block],
        tokenizer_fn=str.split,
        async_engine=database,
    )
    chat = SimpleChatEngine.from_defaults(llm=MockLLM(max_tokens=None), memory=session)
    for words in said:
        print(f"\n{user}: {words}\n{await chat.achat(words)}")
    await database.dispose()


def main(folder: str) -> None:
    """Tell the engine something in one session, and ask for it in another one."""
    with NeuroGraphMemory(MemoryConfig(save_dir=folder)) as memory:
        asyncio.run(talk(memory, "ana", "monday", "My heron is called Ada.", "It likes the pond behind the old house."))
        asyncio.run(talk(memory, "ana", "tuesday", "What is my heron called?"))
        asyncio.run(talk(memory, "bob", "tuesday", "What is my heron called?"))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(temporary)
