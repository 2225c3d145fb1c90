"""The messages that are offered as evidence for a conflict."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from neurogated import NeuroGraphMemory

START = datetime(2024, 1, 1, tzinfo=UTC)
ANSWER = "York, I moved there in May."


def said(
    memory: NeuroGraphMemory,
    text: str,
    minute: int,
    *,
    user: str | None = "ana",
    agent: str | None = None,
    session: str = "talk",
) -> list[str]:
    message = {"role": "user", "content": text, "timestamp": START + timedelta(minutes=minute)}
    return memory.add(message, user_id=user, agent_id=agent, session_id=session)


def evidence(memory: NeuroGraphMemory) -> tuple[str, ...]:
    (conflict,) = memory.conflicts.list(user_id="ana")
    return conflict.evidence


def in_conflict(memory: NeuroGraphMemory) -> None:
    said(memory, "I live in Leeds.", 0)
    said(memory, "I live in York.", 10)


def test_messages_of_other_agents_users_and_sessions_are_no_evidence(memory: NeuroGraphMemory) -> None:
    in_conflict(memory)
    said(memory, ANSWER, 20, agent="cook")
    said(memory, ANSWER, 20, user="ben")
    said(memory, ANSWER, 20, user=None)
    said(memory, ANSWER, 20, session="other")
    memory.add(ANSWER, user_id="ana")
    assert evidence(memory) == ()
    (answer,) = said(memory, ANSWER, 30)
    assert evidence(memory) == (answer,)


def test_a_message_before_the_later_side_is_no_evidence(memory: NeuroGraphMemory) -> None:
    in_conflict(memory)
    said(memory, ANSWER, 5)
    assert evidence(memory) == ()
