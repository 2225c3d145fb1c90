"""The memory service of Google's ADK, and its tool that loads memories. Runs offline, with a scripted model.

usage: python examples/with_google_adk.py [MEMORY_FOLDER]

needs: pip install 'neurogated[google-adk]'. Replace `Script` by the name of your own model.
"""

import asyncio
import sys
import tempfile
from collections.abc import AsyncGenerator

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.google_adk import MemoryService


class Script(BaseLlm):
    """Prints its prompt, and answers."""

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002, FBT001, FBT002 - as theirs
    ) -> AsyncGenerator[LlmResponse, None]:
        """Yield the answer."""
        print(*(part.text for content in llm_request.contents for part in content.parts or ()), sep="\n")
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="I see.")]))


async def ask(memory: NeuroGraphMemory, user: str, day: str, words: str) -> None:
    """Run one turn of a session, and add the session to the memory."""
    print(f"\n{user}: {words}")
    agent = LlmAgent(name="helper", model=Script(model="script"), tools=[PreloadMemoryTool()])
    service, sessions = MemoryService(memory), InMemorySessionService()
    runner = Runner(app_name="birds", agent=agent, session_service=sessions, memory_service=service)
    await sessions.create_session(app_name="birds", user_id=user, session_id=day)
    said = types.Content(role="user", parts=[types.Part(text=words)])
    async for _ in runner.run_async(user_id=user, session_id=day, new_message=said):
        pass
    if session := await sessions.get_session(app_name="birds", user_id=user, session_id=day):
        await service.add_session_to_memory(session)


def main(folder: str) -> None:
    """Tell the agent something in one session, and ask for it in another one."""
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
