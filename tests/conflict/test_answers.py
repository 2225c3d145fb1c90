"""The messages that are offered as evidence for a conflict."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from neurogated import MemoryConfig, NeuroGraphMemory

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
    (conflict,) = memory.conflicts(user_id="ana")
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


def test_a_message_that_was_stored_before_the_later_side_is_no_evidence(memory: NeuroGraphMemory) -> None:
    said(memory, "I live in Leeds.", 0)
    said(memory, ANSWER, 20)
    said(memory, "I live in York.", 10)
    assert not any(one.evidence for one in memory.conflicts(user_id="ana"))


def test_a_message_before_the_later_side_is_no_evidence(memory: NeuroGraphMemory) -> None:
    in_conflict(memory)
    said(memory, ANSWER, 5)
    assert evidence(memory) == ()


def test_the_rest_of_a_long_message_is_no_evidence() -> None:
    values = {"storage": "memory", "embedding_name": "hash", "indexing.chunk_size": 12, "indexing.chunk_overlap": 0}
    with NeuroGraphMemory(MemoryConfig.from_mapping({**values, "metabolism.conflict_similarity": 0.1})) as memory:
        said(memory, "I live in Leeds.", 0)
        pieces = said(memory, "I live in York. " + "I walk to the market of York every day with my dog. " * 12, 10)
        assert len(pieces) > 8
        (answer,) = said(memory, ANSWER, 20)
        assert {one.evidence for one in memory.conflicts(user_id="ana")} == {(answer,)}


def test_only_the_next_messages_are_searched(memory: NeuroGraphMemory) -> None:
    in_conflict(memory)
    most = memory.config.metabolism.conflict_answers
    answers = [said(memory, f"{ANSWER} {number}", 20 + number)[0] for number in range(2 * most)]
    assert evidence(memory) == tuple(answers[:most])


def test_a_deleted_answer_is_no_evidence(memory: NeuroGraphMemory) -> None:
    in_conflict(memory)
    first, second = (said(memory, f"{ANSWER} {number}", 20 + number)[0] for number in range(2))
    memory.delete(first)
    assert evidence(memory) == (second,)
