"""Questions about a relative time."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.config.retrieval_settings import RetrievalSettings
from neurogated.retrieval.time_spans import span_of

NOW = datetime(2026, 5, 13, 15, tzinfo=UTC)
"""A Wednesday."""
WEEK = (date(2026, 5, 4), date(2026, 5, 10))


@pytest.mark.parametrize(
    ("question", "span"),
    [
        ("What did I do last week?", WEEK),
        ("Was habe ich letzte Woche gemacht?", WEEK),
        ("Qu'ai-je fait la semaine dernière ?", WEEK),
        ("¿Qué hice la semana pasada?", WEEK),
        ("我上周做了什么？", WEEK),
        ("What did I eat yesterday?", (date(2026, 5, 12), date(2026, 5, 12))),
        ("Wen traf ich vorgestern?", (date(2026, 5, 11), date(2026, 5, 11))),
        ("Qu'ai-je mangé hier ?", (date(2026, 5, 12), date(2026, 5, 12))),
        ("What happened three days ago?", (date(2026, 5, 10), date(2026, 5, 10))),
        ("Was geschah vor zwei Monaten?", (date(2026, 3, 1), date(2026, 3, 31))),
        ("Où étais-je il y a deux ans ?", (date(2024, 1, 1), date(2024, 12, 31))),
        ("¿Dónde estuve hace dos semanas?", (date(2026, 4, 26), date(2026, 5, 2))),
        ("What have I read in the last 10 days?", (date(2026, 5, 3), date(2026, 5, 13))),
        ("What is planned next month?", (date(2026, 6, 1), date(2026, 6, 30))),
        ("What did I spend this year?", (date(2026, 1, 1), date(2026, 12, 31))),
        ("Notes between 2026-05-09 and 2026-05-01", (date(2026, 5, 1), date(2026, 5, 9))),
        ("Where is the last lighthouse?", None),
        ("Who met whom in 1999?", None),
        ("Between 2026-02-30 and 2026-03-01?", None),
        ("What is the ferry's name?", None),
    ],
)
def test_the_days_that_a_question_means(question: str, span: tuple[date, date] | None) -> None:
    assert span_of(question, NOW) == span


@given(st.text(st.sampled_from("last week 3ago上周99-")), st.datetimes(timezones=st.just(UTC)))
def test_any_question_at_any_time_means_days_in_order_or_none(question: str, now: datetime) -> None:
    span = span_of(question, now)
    assert span is None or span.first <= span.last


@pytest.mark.parametrize("question", ["What did I bake last week?", "Was habe ich letzte Woche gebacken (bake)?"])
def test_memories_of_that_time_come_before_others_of_the_same_topic(question: str) -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash", retrieval=RetrievalSettings(candidates=5))
    with NeuroGraphMemory(config) as memory:
        for weeks in range(60):
            at = NOW - timedelta(weeks=weeks)
            memory.add(f"I did bake bread number {weeks}.", timestamp=at)
        memory.add("I did bake a cake.")
        (first, *_) = memory.recall(question, now=NOW, top_n=1)
        assert first.content == "I did bake bread number 1."
        (later, *_) = memory.recall(question, now=NOW - timedelta(weeks=20), top_n=1)
        assert later.content == "I did bake bread number 21."


def test_the_switch_and_undated_memories_leave_the_score_alone() -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash")
    with NeuroGraphMemory(config) as memory, NeuroGraphMemory(config.replace(retrieval={"time_span_weight": 0})) as off:
        for one in (memory, off):
            one.add(["I baked bread.", "I baked a cake.", "The ferry left."])
        question = "What did I bake last week?"
        scores = [[(hit.content, hit.score) for hit in one.recall(question, now=NOW)] for one in (memory, off)]
        assert scores[0] == scores[1]
        off.add("I baked a pie.", timestamp=NOW - timedelta(days=7))
        memory.add("I baked a pie.", timestamp=NOW - timedelta(days=7))
        assert memory.recall(question, now=NOW)[0].content == "I baked a pie."
        assert off.recall(question, now=NOW)[0].score < memory.recall(question, now=NOW)[0].score
