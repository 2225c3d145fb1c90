"""Data sets: both formats, joined and omitted rows, refusals, and the bundled sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neurogated.errors import DatasetError
from neurogated.evaluation.datasets import Collection, load_dataset

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


# HippoRAG


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


# Refusals


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
