"""The memory service of Google's ADK over a memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import InputError, UnknownIdError
from neurogated.integrations.google_adk import MemoryService

QUESTION = "What is the name of my heron?"
FACT = "The name of my heron is Ada."


def _event(text: str, name: str, author: str = "user") -> Event:
    role = "user" if author == "user" else "model"
    return Event(id=name, author=author, content=types.Content(role=role, parts=[types.Part(text=text)]), timestamp=1e9)


def _found(service: MemoryService, user: str, query: str = QUESTION, app: str = "app") -> list[MemoryEntry]:
    return asyncio.run(service.search_memory(app_name=app, user_id=user, query=query)).memories


def test_events_are_stored_once_and_found_by_their_user_in_their_app_also_after_reopening(config: MemoryConfig) -> None:
    call = types.Part(function_call=types.FunctionCall(name="weather", args={"city": "Lyon"}))
    result = types.Part(function_response=types.FunctionResponse(name="weather", response={"degrees": 18}))
    events = [
        _event(FACT, "e1"),
        _event("Noted.", "e2", "helper"),
        Event(id="e3", author="helper", content=types.Content(role="model", parts=[call])),
        Event(id="e4", author="helper", content=types.Content(role="user", parts=[result])),
        Event(id="e5", author="helper"),
    ]
    given: dict[str, Any] = {"app_name": "app", "user_id": "ana", "session_id": "monday"}
    with NeuroGraphMemory(config) as memory:
        service = MemoryService(memory)
        asyncio.run(service.add_events_to_memory(events=events[:2], **given))
        asyncio.run(service.add_events_to_memory(events=events, custom_metadata={"place": "pond"}, **given))
        asyncio.run(service.add_events_to_memory(events=events[:1], **{**given, "user_id": "bob"}))
        said = [(one.kind, one.role, one.speaker) for one in memory.find(user_id="ana", session_id="monday")]
        assert said == [
            ("turn", "user", None), ("turn", "assistant", "helper"),
            ("call", "assistant", None), ("turn", "tool", "helper"),
        ]  # fmt: skip
    with NeuroGraphMemory(config) as memory:
        service = MemoryService(memory)
        best = _found(service, "ana")[0]
        assert best.content.parts is not None
        assert (best.content.parts[0].text, best.author, best.content.role) == (FACT, "user", "user")
        assert str(best.timestamp).startswith("2001-09-09")
        assert len(_found(service, "bob")) == 1
        assert _found(service, "carl") == []
        assert _found(service, "ana", app="other") == []
        others = [("bob", "app"), ("ana", "other")]
        for user, app in others:
            asyncio.run(service.delete_memory(app_name=app, user_id=user, memory_id=best.id))
        assert _found(service, "ana")[0].id == best.id
        asyncio.run(service.delete_memory(app_name="app", user_id="ana", memory_id=best.id))
        assert best.id not in [one.id for one in _found(service, "ana")]
        with pytest.raises(UnknownIdError):
            asyncio.run(service.delete_memory(app_name="app", user_id="ana", memory_id="unknown"))


def test_the_words_of_a_spoken_session_are_stored_without_their_pieces(memory: NeuroGraphMemory) -> None:
    def heard(words: str) -> types.Transcription:
        return types.Transcription(text=words, finished=True)

    events = [
        Event(author="user", input_transcription=types.Transcription(text="The name"), partial=True),
        Event(author="user", input_transcription=heard(FACT)),
        Event(author="helper", output_transcription=heard("Noted.")),
        Event(author="helper", output_transcription=heard("")),
    ]
    given: dict[str, Any] = {"app_name": "app", "user_id": "ana", "session_id": "monday"}
    asyncio.run(MemoryService(memory).add_events_to_memory(events=events, **given))
    said = [(one.role, one.speaker, one.content) for one in memory.find(user_id="ana")]
    assert said == [("user", None, FACT), ("assistant", "helper", "Noted.")]


def test_the_question_that_is_stored_before_it_is_asked_does_not_answer_itself(memory: NeuroGraphMemory) -> None:
    service = MemoryService(memory)
    given: dict[str, Any] = {"app_name": "app", "user_id": "ana"}
    asyncio.run(service.add_events_to_memory(events=[_event(FACT, "e1")], session_id="monday", **given))
    asyncio.run(service.add_events_to_memory(events=[_event(QUESTION, "e1")], session_id="tuesday", **given))
    assert [one.content.parts[0].text for one in _found(service, "ana") if one.content.parts] == [FACT]


class Script(BaseLlm):
    """Says the lines of a script, and records its requests."""

    lines: list[str]
    requests: list[LlmRequest] = []  # noqa: RUF012 - pydantic copies it

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncIterator[LlmResponse]:  # type: ignore[override]  # noqa: ARG002, FBT001, FBT002
        self.requests.append(llm_request)
        text = self.lines[len(self.requests) - 1]
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))


def test_an_agent_remembers_across_sessions_and_never_across_users(memory: NeuroGraphMemory) -> None:
    model = Script(model="script", lines=["Noted.", "Ada.", "I do not know."])
    agent = LlmAgent(name="helper", model=model, tools=[PreloadMemoryTool()])
    service, sessions = MemoryService(memory), InMemorySessionService()

    async def ask(user: str, session_id: str, words: str) -> None:
        runner = Runner(app_name="app", agent=agent, session_service=sessions, memory_service=service)
        await sessions.create_session(app_name="app", user_id=user, session_id=session_id)
        said = types.Content(role="user", parts=[types.Part(text=words)])
        async for _ in runner.run_async(user_id=user, session_id=session_id, new_message=said):
            pass
        session = await sessions.get_session(app_name="app", user_id=user, session_id=session_id)
        assert session is not None
        await service.add_session_to_memory(session)

    async def talk() -> None:
        await ask("ana", "monday", FACT)
        await ask("ana", "tuesday", QUESTION)
        await ask("bob", "wednesday", QUESTION)

    asyncio.run(talk())
    told = [str(one.config.system_instruction) + str(one.contents) for one in model.requests]
    assert ["Ada" in one for one in told] == [True, True, False]


def test_an_event_that_is_added_as_a_message_is_refused_with_this_door(memory: NeuroGraphMemory) -> None:
    events: list[Any] = [_event(FACT, "e1"), _event(FACT, "e1").model_dump(by_alias=True)]
    for event in events:
        with pytest.raises(InputError, match=r"neurogated\.integrations\.google_adk"):
            memory.add([event])
