"""Data sets of every format: what is read, what is left out and reported, and what is refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from neurogated import MemoryConfig
from neurogated.errors import DatasetError, InputError
from neurogated.evaluation.datasets import Dataset, load_dataset
from tests.evaluation.test_runner import run

TURN: dict[str, Any] = {"speaker": "Ann", "dia_id": "D1:1", "text": "Hello there."}


def test_evidence_that_names_no_turn_and_questions_without_any_are_reported(tmp_path: Path) -> None:
    qa = [
        {"question": "in part?", "category": 1, "evidence": ["D1:1", "D1:9", "D: 1"]},
        {"question": "nothing said?", "category": 2},
        {"question": "trap?", "category": 5, "evidence": ["D8:8"]},
    ]
    conversation = {"session_1": [TURN]}
    entries = [{"sample_id": "c1", "conversation": conversation, "qa": qa}]
    (tmp_path / "d.json").write_text(json.dumps(entries), encoding="utf-8")
    assert load_dataset("d", tmp_path, "locomo").notes == (
        "d.json: evidence that names no turn of its conversation is left out: 'D1:9', 'D: 1'",
        "d.json: questions without evidence are not asked: 1",
    )


MOON = {"title": "Mercury", "text": "It has no moon."}
TAR = {"title": "Tar", "text": "Tar is black."}


def _load(folder: Path, corpus: object, *questions: dict[str, Any]) -> Dataset:
    asked = [{"id": f"q{place}", "question": "What?", **question} for place, question in enumerate(questions)]
    (folder / "d_corpus.json").write_text(json.dumps(corpus), encoding="utf-8")
    (folder / "d.json").write_text(json.dumps(asked), encoding="utf-8")
    return load_dataset("d", folder, "hipporag")


def _gold(folder: Path, corpus: object, *paragraphs: dict[str, Any]) -> set[object]:
    (question,) = _load(folder, corpus, {"paragraphs": list(paragraphs)}).collections[0].questions
    return set(question.gold)


def _refused(folder: Path, corpus: object, question: dict[str, Any]) -> str:
    with pytest.raises(InputError) as caught:
        _load(folder, corpus, question)
    return str(caught.value)


def test_text_alone_names_the_row_where_one_side_has_no_title(tmp_path: Path) -> None:
    assert _gold(tmp_path, [MOON, TAR], {"text": TAR["text"]}) == {1}
    assert _gold(tmp_path, [MOON, {"text": TAR["text"]}], TAR) == {1}


def test_gold_passage_that_stands_twice_is_the_first_of_its_rows_or_the_numbered_one(tmp_path: Path) -> None:
    corpus = [TAR, MOON, TAR]
    assert _gold(tmp_path, corpus, TAR) == {0}
    assert _gold(tmp_path, corpus, {**TAR, "idx": 2}) == {2}
    assert _gold(tmp_path, corpus, {**TAR, "idx": 0}, {**TAR, "idx": 2}) == {0, 2}


@pytest.mark.parametrize(
    ("passage", "parts"),
    [
        ({**TAR, "text": "Tar is sticky."}, ["'Tar', 'Tar is sticky.'", "is not in"]),
        ({**TAR, "title": "Pitch"}, ["'Pitch'", "is not in"]),
        ({**TAR, "text": "Tar is sticky.", "idx": 1}, ["idx 1", "is not in"]),
        ({"title": "Snow", "text": "Snow is cold."}, ["'Snow', 'Snow is cold.'", "add it there"]),
        ({"title": "Snow", "idx": 0}, ["'Snow', idx 0", "add it there"]),
        ({"idx": 9}, ["idx 9", "add it there"]),
    ],
)
def test_gold_passage_that_the_corpus_lacks_is_named_with_its_question(
    tmp_path: Path, passage: dict[str, Any], parts: list[str]
) -> None:
    told = _refused(tmp_path, [MOON, TAR], {"paragraphs": [{**MOON, "is_supporting": True}, passage]})
    assert told.startswith(f"{tmp_path / 'd.json'}, entry 0, paragraphs[1] (question 'q0'): the gold passage ")
    assert "is not in d_corpus.json" in told
    assert all(part in told for part in parts)


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


_BATCH = {
    "batch_number": 1,
    "turns": [
        [
            {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "I keep two beehives. ->-> 1,1"},
            {"role": "assistant", "id": 1, "content": "Place them facing south. ->-> x"},
        ],
        [
            {"role": "user", "id": 2, "content": "I sold one beehive. ->-> 1,N/A"},
            {"role": "user", "id": 3, "content": " "},
        ],
    ],
}
_QUESTIONS = {
    "abstention": [{"question": "How many goats have I?", "ideal_response": "Unknown."}],
    "knowledge_update": [
        {
            "question": "How many beehives?",
            "answer": 1,
            "source_chat_ids": {"original_info": [0], "updated_info": [[2]]},
        }
    ],
    "instruction_following": [{"question": "Where do they stand?", "source_chat_ids": [99]}],
}


def _beam(folder: Path, chat: object, questions: object = _QUESTIONS) -> Path:
    (folder / "100K" / "1" / "probing_questions").mkdir(parents=True)
    (folder / "100K" / "1" / "chat.json").write_text(json.dumps(chat))
    (folder / "100K" / "1" / "probing_questions" / "probing_questions.json").write_text(json.dumps(questions))
    return folder


@pytest.mark.parametrize("chat", [[_BATCH], [{"plan-1": [_BATCH]}]])
def test_messages_of_a_chat_have_the_day_of_their_batch_and_answer_by_number(
    tmp_path: Path, config: MemoryConfig, chat: object
) -> None:
    data = load_dataset("100K", _beam(tmp_path, chat), "beam")
    (one,) = data.collections
    assert [(document.passages[0].role, document.passages[0].text) for document in one.documents] == [
        ("user", "I keep two beehives."),
        ("assistant", "Place them facing south. ->-> x"),
        ("user", "I sold one beehive."),
    ]
    assert {document.timestamp for document in one.documents} == {datetime(2024, 3, 15, tzinfo=UTC)}
    assert [(asked.kind, asked.gold, asked.answers) for asked in one.questions] == [
        ("knowledge_update", frozenset({"0", "2"}), ("1",)),
        ("instruction_following", frozenset(), ()),
    ]
    assert data.notes == (
        "100K: questions without an answer in their chat, which are not asked: 1",
        "100K: questions that name no message with the answer, which recall leaves out: 1",
    )
    assert run(data, config).recall["all"]["R@5"] == 100


def test_a_folder_without_chats_and_a_day_in_another_form_are_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="100K has no folder"):
        load_dataset("100K", tmp_path, "beam")
    batch = {"turns": [[{"role": "user", "id": 0, "time_anchor": "15.3.2024", "content": "Hi."}]]}
    with pytest.raises(DatasetError, match="March-15-2024"):
        load_dataset("100K", _beam(tmp_path, [batch]), "beam")


def _user(number: int, question: str, **changes: object) -> dict[str, object]:
    time = {"time": "2024年04月01日 周一 08:42", "place": "上海"}
    notes = [{"mid": 0, "message": "我用的手机是小米12。", **time}, {"mid": 1, "message": "我住在绿洲家园。", **time}]
    asked = {
        "qid": 0,
        "question": question,
        "answer": "小米12",
        "target_step_id": [0],
        "time": "2024年04月03日 周三 18:40",
    }
    return {"tid": number, "message_list": notes, "QA": {**asked, **changes}}


def test_each_user_has_notes_with_times_and_a_question_asked_later(tmp_path: Path, config: MemoryConfig) -> None:
    users = [_user(0, "我的手机是什么?"), _user(1, "[ERRORQ]")]
    (tmp_path / "memdaily.json").write_text(json.dumps({"simple": {"items": users, "hybrid": None}}))
    data = load_dataset("memdaily", tmp_path, "memdaily")
    (one,) = data.collections
    assert one.namespace == "simple-items-0"
    assert [document.timestamp for document in one.documents] == [datetime(2024, 4, 1, 8, 42, tzinfo=UTC)] * 2
    (asked,) = one.questions
    assert (asked.kind, asked.gold, asked.answers) == ("simple", frozenset({"0"}), ("小米12",))
    assert asked.asked_at == datetime(2024, 4, 3, 18, 40, tzinfo=UTC)
    assert data.notes == ("memdaily.json: questions that the generator failed to write, which are not asked: 1 of 2",)
    assert run(data, config).recall["all"]["R@5"] == 100
