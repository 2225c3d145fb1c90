"""Data sets: both formats, joined and omitted rows, refusals, and the bundled sample."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from neurogated.errors import DatasetError
from neurogated.evaluation.datasets import BUNDLED, SOURCES_KEY, Collection, load_dataset
from neurogated.ingestion.document import Document

ROOT = Path(__file__).parents[2]

CORPUS = [{"title": "A", "text": "a1"}, {"title": "A", "text": "a2"}, {"title": "B", "text": "b"}]
QUESTION: dict[str, Any] = {
    "id": "q1",
    "question": "Who came?",
    "answer": ["Ada", "Ada L."],
    "kind": "why",
    "paragraphs": [
        {"title": "A", "text": "a1", "is_supporting": True, "idx": 0},
        {"title": "B", "text": "b", "is_supporting": False, "idx": 2},
    ],
}
TURN: dict[str, Any] = {"speaker": "Ann", "dia_id": "D1:1", "text": "Hello there."}


def _hipporag(folder: Path, corpus: object, questions: object = ()) -> Collection:
    (folder / "d_corpus.json").write_text(json.dumps(corpus), encoding="utf-8")
    (folder / "d.json").write_text(json.dumps(questions), encoding="utf-8")
    (collection,) = load_dataset("d", folder, "hipporag").collections
    return collection


def _locomo(folder: Path, conversation: object, qa: object = ()) -> Collection:
    (folder / "d.json").write_text(
        json.dumps([{"sample_id": "c1", "conversation": conversation, "qa": qa}]), encoding="utf-8"
    )
    (collection,) = load_dataset("d", folder, "locomo").collections
    return collection


def _texts(document: Document) -> list[str]:
    return [passage.text for passage in document.passages]


def _sources(document: Document) -> list[list[object]]:
    return [list(passage.metadata[SOURCES_KEY]) for passage in document.passages]


# HippoRAG


def test_consecutive_rows_of_one_title_are_one_document(tmp_path: Path) -> None:
    rows = [("A", "a1"), ("A", "a2"), ("B", "b"), ("A", "a3")]
    corpus = [{"title": title, "text": text, "idx": 10 + place} for place, (title, text) in enumerate(rows)]
    documents = _hipporag(tmp_path, corpus).documents
    assert [(d.title, _texts(d), _sources(d)) for d in documents] == [
        ("A", ["a1", "a2"], [[10], [11]]),
        ("B", ["b"], [[12]]),
        ("A", ["a3"], [[13]]),
    ]


@pytest.mark.parametrize(
    ("changes", "kind", "answers"),
    [
        ({"kind": None, "type": "bridge", "answer": "Ada"}, "bridge", ("Ada",)),
        ({"kind": None, "answer": []}, "all", ()),
    ],
)
def test_kind_and_answers_are_read_in_all_their_forms(
    tmp_path: Path, changes: dict[str, Any], kind: str, answers: tuple[str, ...]
) -> None:
    (question,) = _hipporag(tmp_path, CORPUS, [{**QUESTION, **changes}]).questions
    assert (question.kind, question.answers) == (kind, answers)


# LoCoMo


def test_sessions_stand_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    conversation = {
        f"session_{number}": [{**TURN, "dia_id": f"D{number}:1", "text": f"Day {number}."}] for number in (10, 2, 1)
    }
    documents = _locomo(tmp_path, conversation).documents
    assert [(d.metadata["session"], _sources(d)) for d in documents] == [
        (1, [["D1:1"]]),
        (2, [["D2:1"]]),
        (10, [["D10:1"]]),
    ]


@pytest.mark.parametrize(("text", "spoken"), [("Look!", "Look! [shares a red boat]"), (" ", "[shares a red boat]")])
def test_caption_of_a_shared_picture_follows_the_text(tmp_path: Path, text: str, spoken: str) -> None:
    (document,) = _locomo(tmp_path, {"session_1": [{**TURN, "text": text, "blip_caption": "a red boat"}]}).documents
    assert _texts(document) == [spoken]


def test_session_time_becomes_a_timestamp(tmp_path: Path) -> None:
    conversation = {"session_1": [TURN], "session_1_date_time": "1:56 pm on 8 May, 2023"}
    dated = _locomo(tmp_path, conversation).documents[0]
    assert dated.timestamp == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def test_questions_that_nothing_answers_are_left_out_and_the_others_keep_their_position(tmp_path: Path) -> None:
    qa = [
        {"question": "trap?", "category": 5, "evidence": ["D1:1"]},
        {"question": "no evidence?", "category": 1, "evidence": []},
        {"question": "elsewhere?", "category": 1, "evidence": ["D9:9"]},
        {"question": "nothing said?", "category": 2},
        {"question": "real?", "category": 4, "evidence": ["D1:1; D1:2", "D9:9"], "answer": 2022},
    ]
    turns = [TURN, {**TURN, "dia_id": "D1:2"}]
    (question,) = _locomo(tmp_path, {"session_1": turns}, qa).questions
    assert (question.id, question.text, question.kind) == ("c1:4", "real?", "category 4")
    assert question.gold == {"D1:1", "D1:2"}
    assert question.answers == ("2022",)


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


def test_each_conversation_is_a_collection(tmp_path: Path) -> None:
    entries: list[dict[str, Any]] = [
        {"sample_id": name, "conversation": {"session_1": [TURN]}, "qa": []} for name in ("c1", "c2")
    ]
    (tmp_path / "d.json").write_text(json.dumps(entries), encoding="utf-8")
    dataset = load_dataset("d", tmp_path, "locomo")
    assert [part.namespace for part in dataset.collections] == ["c1", "c2"]


# Refusals


@pytest.mark.parametrize(("file_format", "missing"), [("hipporag", "d_corpus.json"), ("locomo", "d.json")])
def test_missing_file_is_named(tmp_path: Path, file_format: str, missing: str) -> None:
    with pytest.raises(DatasetError) as caught:
        load_dataset("d", tmp_path, file_format)
    assert str(caught.value).startswith(f"{tmp_path / missing} does not exist")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'[\n {"a": 1},\n  oops]', "is not JSON: Expecting value: line 3 column 3"),
        (b'{"a": 1}', "holds an object, but must hold a list"),
        (b"[7]", ", entry 0 is a number, but must be an object"),
        (b"[\xff]", "cannot be read"),
    ],
)
def test_file_that_is_no_list_of_objects_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "d.json"
    path.write_bytes(content)
    with pytest.raises(DatasetError) as caught:
        load_dataset("d", tmp_path, "locomo")
    assert str(path) in str(caught.value)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"title": "A"}, "lacks the field 'text'"),
        ({"text": 7}, "field 'text' is a number"),
        ({"text": "a", "idx": "1"}, "field 'idx' is text"),
    ],
)
def test_bad_corpus_row_is_named_with_file_and_position(tmp_path: Path, row: dict[str, Any], problem: str) -> None:
    with pytest.raises(DatasetError) as caught:
        _hipporag(tmp_path, [{"title": "Good", "text": "good"}, row])
    assert f"{tmp_path / 'd_corpus.json'}, entry 1" in str(caught.value)
    assert problem in str(caught.value)


# The bundled sample


def test_sample_is_large_enough_and_asks_every_kind_of_question() -> None:
    (collection,) = load_dataset(BUNDLED, ROOT / "dataset", "hipporag").collections
    passages = [passage for document in collection.documents for passage in document.passages]
    assert len(passages) >= 60
    assert len(collection.questions) >= 40
    assert {"why", "consequence", "when", "next", "like", "two-hop", "place", "sentiment"} <= {
        q.kind for q in collection.questions
    }


def test_sample_is_numbered_by_position_and_its_gold_paragraphs_are_those_of_the_corpus() -> None:
    corpus = json.loads((ROOT / "dataset" / "sample_corpus.json").read_text(encoding="utf-8"))
    questions = json.loads((ROOT / "dataset" / "sample.json").read_text(encoding="utf-8"))
    assert [row["idx"] for row in corpus] == list(range(len(corpus)))
    assert len({row["text"] for row in corpus}) == len(corpus)
    assert len({question["id"] for question in questions}) == len(questions)
    for question in questions:
        assert question["answer"]
        assert any(paragraph["is_supporting"] for paragraph in question["paragraphs"])
        for paragraph in question["paragraphs"]:
            row = corpus[paragraph["idx"]]
            assert (paragraph["title"], paragraph["text"]) == (row["title"], row["text"])


def test_a_blank_row_costs_no_other_one_and_is_counted(tmp_path: Path) -> None:
    corpus = [
        {"title": "Bees", "text": "Bees hum."},
        {"title": "", "text": " "},
        {"title": "Tar", "text": "Tar is black."},
    ]
    (tmp_path / "tiny_corpus.json").write_text(json.dumps(corpus), encoding="utf-8")
    asked = [{"question": "What is black?", "paragraphs": [{"title": "Tar", "text": "Tar is black."}]}]
    (tmp_path / "tiny.json").write_text(json.dumps(asked), encoding="utf-8")
    data = load_dataset("tiny", tmp_path, "hipporag")
    assert data.notes == ("tiny_corpus.json: rows without a text, which are left out: 1",)
    assert data.collections[0].questions[0].gold == {2}


def test_evidence_of_locomo_with_a_colon_or_a_zero_too_many_is_read_as_meant(tmp_path: Path) -> None:
    turns = [{"speaker": "Ann", "dia_id": f"D1:{place}", "text": f"Word {place}."} for place in (1, 5)]
    qa = [{"question": "Which?", "category": 1, "evidence": ["D:1:1", "D1:05"], "answer": "one"}]
    talk = [{"sample_id": "c", "conversation": {"session_1": turns}, "qa": qa}]
    (tmp_path / "talk.json").write_text(json.dumps(talk), encoding="utf-8")
    assert load_dataset("talk", tmp_path, "locomo").collections[0].questions[0].gold == {"D1:1", "D1:5"}
