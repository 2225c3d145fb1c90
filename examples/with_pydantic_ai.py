"""A Pydantic AI agent with its history in a memory. Runs offline, with a scripted model.

usage: python examples/with_pydantic_ai.py [MEMORY_FOLDER]

needs: pip install 'neurogated[pydantic-ai]'. Replace `FunctionModel(…)` by the name of your own model.
"""

import asyncio
import sys
import tempfile

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import SystemPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.pydantic_ai import MemoryHistory


def script(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Print the memories, and answer."""
    told = [part.content for one in messages for part in one.parts if isinstance(part, SystemPromptPart)]
    print("\n".join(told) or "(no memories)")
    return ModelResponse([TextPart("I see.")])


async def ask(memory: NeuroGraphMemory, user: str, day: str, words: str) -> None:
    """Run one turn of a conversation, and store it."""
    print(f"\n{user}: {words}")
    history = MemoryHistory(memory, f"{user} {day}", user_id=user)
    agent = Agent(FunctionModel(script), capabilities=[ProcessHistory(history.add_memories)])
    result = await agent.run(words, message_history=history.load())
    history.save(result.new_messages())


def main(folder: str) -> None:
    """Tell the agent something in one conversation, and ask for it in another one."""
    with NeuroGraphMemory(MemoryConfig(save_dir=folder)) as memory:
        asyncio.run(ask(memory, "ana", "monday", "My heron is called Ada."))
        asyncio.run(ask(memory, "ana", "tuesday", "What is my heron called?"))
        asyncio.run(ask(memory, "bob", "tuesday", "What is my heron called?"))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(temporary)
