"""The corpus row of a gold passage: matching by title, text and number, and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neurogated.errors import InputError
from neurogated.evaluation.datasets import Dataset, load_dataset

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


# Matching


def test_text_alone_names_the_row_where_one_side_has_no_title(tmp_path: Path) -> None:
    assert _gold(tmp_path, [MOON, TAR], {"text": TAR["text"]}) == {1}
    assert _gold(tmp_path, [MOON, {"text": TAR["text"]}], TAR) == {1}


# Copies


def test_gold_passage_that_stands_twice_is_the_first_of_its_rows_or_the_numbered_one(tmp_path: Path) -> None:
    corpus = [TAR, MOON, TAR]
    assert _gold(tmp_path, corpus, TAR) == {0}
    assert _gold(tmp_path, corpus, {**TAR, "idx": 2}) == {2}
    assert _gold(tmp_path, corpus, {**TAR, "idx": 0}, {**TAR, "idx": 2}) == {0, 2}


# Refusals


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


# A memory of an earlier version of the files
