"""An agent of Microsoft's Agent Framework that remembers. Runs offline, with a scripted client.

usage: python examples/with_agent_framework.py [MEMORY_FOLDER]

needs: pip install 'neurogated[agent-framework]'. Replace `Script` by your own chat client.
"""

import asyncio
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from agent_framework import Agent, AgentSession, BaseChatClient, ChatResponse, Message

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.agent_framework import MemoryProvider


class Script(BaseChatClient[Any]):
    """Prints the instructions, and answers."""

    async def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],  # noqa: ARG002
        stream: bool,  # noqa: ARG002
        options: Mapping[str, Any],
        **_: Any,  # noqa: ANN401
    ) -> ChatResponse:
        print(options.get("instructions"))
        return ChatResponse(messages=[Message("assistant", ["I see."])])


async def ask(agent: Agent[Any], user: str, day: str, words: str) -> None:
    """Run one turn of a session."""
    print(f"\n{user}: {words}")
    session = AgentSession(session_id=f"{user} {day}")
    session.state["user_id"] = user
    await agent.run(words, session=session)


def main(folder: str) -> None:
    """Tell the agent something in one session, and ask for it in another one."""
    with NeuroGraphMemory(MemoryConfig(save_dir=folder)) as memory:
        agent = Agent(Script(), "Be brief.", context_providers=[MemoryProvider(memory)])
        asyncio.run(ask(agent, "ana", "monday", "My heron is called Ada."))
        asyncio.run(ask(agent, "ana", "tuesday", "What is my heron called?"))
        asyncio.run(ask(agent, "bob", "tuesday", "What is my heron called?"))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(temporary)
