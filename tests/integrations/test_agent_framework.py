"""The context provider of Microsoft's Agent Framework over a memory."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from agent_framework import (
    Agent,
    AgentResponse,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    SessionContext,
    tool,
)

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import InputError
from neurogated.integrations.agent_framework import MemoryProvider

QUESTION = "What is the name of my heron?"
FACT = "The name of my heron is Ada."


class Script(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Says the messages of a script, and records its instructions."""

    def __init__(self, *answers: str | Content) -> None:
        super().__init__()
        self.answers, self.told = iter(answers), list[str]()

    async def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,  # noqa: ARG002
        options: Mapping[str, Any],
        **_: Any,  # noqa: ANN401
    ) -> ChatResponse:
        system = [one.text for one in messages if one.role == "system"]
        self.told.append("\n".join([str(options.get("instructions") or ""), *system]))
        return ChatResponse(messages=[Message("assistant", [next(self.answers)])])


@tool
def weather(city: str) -> str:
    """Return the weather."""
    return f"18 degrees in {city}"


async def _run(agent: Agent[Any], words: str, session: AgentSession) -> None:
    await agent.run(words, session=session)


def _session(name: str, user: str | None) -> AgentSession:
    session = AgentSession(session_id=name)
    if user is not None:
        session.state["user_id"] = user
    return session


def test_an_agent_remembers_across_sessions_and_never_across_users(config: MemoryConfig) -> None:
    call = Content.from_function_call("1", "weather", arguments={"city": "Lyon"})
    script = Script("Noted.", call, "Ada.", "I do not know.")
    with NeuroGraphMemory(config) as memory:
        agent = Agent(
            script, "Be brief.", tools=[weather], context_providers=[MemoryProvider(memory, agent_id="helper")]
        )
        asyncio.run(_run(agent, FACT, _session("monday", "ana")))
    with NeuroGraphMemory(config) as memory:
        agent = Agent(
            script, "Be brief.", tools=[weather], context_providers=[MemoryProvider(memory, agent_id="helper")]
        )
        asyncio.run(_run(agent, QUESTION, _session("tuesday", "ana")))
        asyncio.run(_run(agent, QUESTION, _session("wednesday", "bob")))
        assert ["Ada" in one for one in script.told] == [False, True, True, False]
        assert not any(QUESTION in one for one in script.told)
        said = memory.find(user_id="ana", session_id="tuesday")
    assert [(one.kind, one.role, one.scope.agent_id) for one in said] == [
        ("turn", "user", "helper"),
        ("call", "assistant", "helper"),
        ("turn", "tool", "helper"),
        ("turn", "assistant", "helper"),
    ]


def test_a_run_without_a_user_is_refused(memory: NeuroGraphMemory) -> None:
    agent = Agent(Script("Noted."), context_providers=[MemoryProvider(memory)])
    with pytest.raises(InputError, match="user_id"):
        asyncio.run(_run(agent, FACT, _session("monday", None)))


def test_the_question_of_an_abandoned_run_is_kept(memory: NeuroGraphMemory) -> None:
    provider = MemoryProvider(memory, user_id="ana")
    context = SessionContext(session_id="monday", input_messages=[Message("user", [QUESTION])])
    session = _session("monday", None)
    # A stream that nobody reads to its end never reaches `after_run`.
    asyncio.run(provider.before_run(agent=Agent(Script()), session=session, context=context, state={}))
    assert [one.content for one in memory.find(user_id="ana", session_id="monday")] == [QUESTION]
    answered = SessionContext(session_id="monday", input_messages=[Message("user", [QUESTION])])
    answered._response = AgentResponse(messages=[Message("assistant", ["Ada."])])
    asyncio.run(provider.after_run(agent=Agent(Script()), session=session, context=answered, state={}))
    assert [one.role for one in memory.find(user_id="ana", session_id="monday")] == ["user", "assistant"]
