"""LongMemEval's files: turns and sessions with the answer, dates with weekdays, and questions that nothing answers."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from neurogated import MemoryConfig
from neurogated.errors import DatasetError
from neurogated.evaluation.datasets import load_dataset
from tests.evaluation.measured import run


def _entry(name: str, question: str, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    bees = [
        {"role": "user", "content": "I bought two beehives for the orchard.", "has_answer": True},
        {"role": "assistant", "content": "Place them facing south.", "has_answer": False},
    ]
    tea = [{"role": "user", "content": "Which tea is best at night?"}, {"role": "assistant", "content": "Linden."}]
    return {
        "question_id": name,
        "question_type": "single-session-user",
        "question": question,
        "answer": 2,
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/22 (Mon) 10:05", "2023/05/25 (Thu) 08:00"],
        "haystack_session_ids": ["answer_1", "chat_7", "chat_7"],
        "haystack_sessions": [bees, tea, [*tea, {"role": "user", "content": " "}]],
        "answer_session_ids": ["answer_1"],
        **changes,
    }


def _write(folder: Path, *entries: dict[str, Any]) -> None:
    (folder / "long.json").write_text(json.dumps(entries), encoding="utf-8")


def test_turns_with_the_answer_are_gold_and_each_question_has_its_own_history(
    tmp_path: Path, config: MemoryConfig
) -> None:
    unanswered = _entry("q2_abs", "How many goats did I buy?")
    _write(tmp_path, _entry("q1", "How many beehives did I buy?"), unanswered, _entry("q3", "How many hives?"))
    data = load_dataset("long", tmp_path, "longmemeval")
    assert [one.namespace for one in data.collections] == ["q1", "q3"]
    assert data.notes == ("long.json: questions without an answer in their history, which are not asked: 1 of 3",)
    (question,) = data.collections[0].questions
    assert question.gold == {"answer_1:1"}
    assert (question.kind, question.answers) == ("single-session-user", ("2",))
    assert question.asked_at == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)
    documents = data.collections[0].documents
    assert [(one.passages[0].role, one.timestamp and one.timestamp.day) for one in documents] == [
        ("user", 20), ("assistant", 20), ("user", 22), ("assistant", 22), ("user", 25), ("assistant", 25),
    ]  # fmt: skip
    report = run(data, config)
    assert report.nodes == 12
    assert report.recall["all"]["R@5"] == 100


def test_sessions_are_found_by_any_of_their_turns(tmp_path: Path, config: MemoryConfig) -> None:
    _write(tmp_path, _entry("q1", "Which way should the hives face?", answer_session_ids=["answer_1", "elsewhere"]))
    data = load_dataset("long", tmp_path, "longmemeval-sessions")
    assert data.collections[0].questions[0].gold == {"answer_1"}
    (line,) = (run(data, config).folder / "rankings.jsonl").read_text(encoding="utf-8").splitlines()
    assert sorted(json.loads(line)["ranked"]) == ["answer_1", "chat_7"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"haystack_dates": ["2023/05/20 (Sat) 02:21"]}, "1 haystack_dates"),
        ({"question_date": "yesterday"}, "'yesterday' is no date"),
        ({"haystack_sessions": [[], [], [{"role": "critic", "content": "Hm."}]]}, "the role 'critic' is unknown"),
        ({"haystack_sessions": [[], [], "Hm."]}, "must be a list"),
    ],
)
def test_a_file_of_another_shape_is_refused_by_place(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    _write(tmp_path, _entry("q1", "How many?", **change))
    with pytest.raises(DatasetError, match="entry 0") as refused:
        load_dataset("long", tmp_path, "longmemeval")
    assert told in str(refused.value)
