"""An agent of the OpenAI Agents SDK with sessions in a memory. Runs offline, with a scripted model.

usage: python examples/with_openai_agents.py [MEMORY_FOLDER]

needs: pip install 'neurogated[openai-agents]'. Leave out `model` to use OpenAI's.
"""

import asyncio
import sys
import tempfile

from agents import Agent, RunConfig, Runner
from agents.testing import ScriptedModel, assistant_message

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.openai_agents import MemorySession


async def ask(memory: NeuroGraphMemory, user: str, day: str, words: str, answer: str) -> None:
    """Run one turn of a conversation, and print the instructions that the model gets."""
    session = MemorySession(memory, f"{user} {day}", user_id=user)
    model = ScriptedModel([[assistant_message(answer)]])
    agent = Agent(name="helper", instructions="Be brief.", model=model)
    config = RunConfig(call_model_input_filter=session.add_memories, tracing_disabled=True)
    result = await Runner.run(agent, words, session=session, run_config=config)
    print(f"\n{user}: {words}\n{model.calls[0].system_instructions}\n{result.final_output}")


def main(folder: str) -> None:
    """Tell the agent something in one session, and ask for it in another one."""
    with NeuroGraphMemory(MemoryConfig(save_dir=folder)) as memory:
        asyncio.run(ask(memory, "ana", "monday", "My heron is called Ada.", "A fine name."))
        asyncio.run(ask(memory, "ana", "tuesday", "What is my heron called?", "It is called Ada."))
        asyncio.run(ask(memory, "bob", "tuesday", "What is my heron called?", "I do not know."))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(temporary)
