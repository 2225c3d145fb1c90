"""The corpus row of a gold passage: matching by title, text and number, and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neurogated import MemoryConfig
from neurogated.errors import DatasetError, InputError
from neurogated.evaluation.datasets import Dataset, load_dataset
from neurogated.evaluation.runner import run

MOON = {"title": "Mercury", "text": "It has no moon."}
METAL = {"title": "Mercury", "text": "It is a metal."}
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


def test_text_decides_between_rows_of_one_title(tmp_path: Path) -> None:
    assert _gold(tmp_path, [MOON, TAR, METAL], METAL) == {2}


def test_number_that_points_at_another_text_does_not_count(tmp_path: Path) -> None:
    assert _gold(tmp_path, [MOON, TAR, METAL], {**METAL, "idx": 0}) == {2}


def test_title_alone_names_the_only_row_that_has_it(tmp_path: Path) -> None:
    dataset = _load(tmp_path, [MOON, TAR], {"supporting_facts": [["Tar", 0]], "context": []})
    assert dataset.collections[0].questions[0].gold == {1}


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


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        ({"supporting_facts": {}, "context": []}, "entry 0: field 'supporting_facts' is an object, but must be a list"),
        (
            {"supporting_facts": ["Tar"], "context": []},
            "entry 0, supporting_facts[0] is text, but must be a list of two",
        ),
        (
            {"supporting_facts": [["Tar", 0]], "context": [["Tar", [3]]]},
            "entry 0, context[0], text[0] is a number, but must be text",
        ),
        ({"paragraphs": [{**TAR, "is_supporting": None}]}, "entry 0, paragraphs[0]: field 'is_supporting' is null"),
        ({"paragraphs": [], "answer": ["yes", None]}, "entry 0, answer[1] is null, but must be text"),
    ],
)
def test_malformed_question_is_named_with_file_entry_and_field(
    tmp_path: Path, question: dict[str, Any], problem: str
) -> None:
    assert f"{tmp_path / 'd.json'}, {problem}" in _refused(tmp_path, [MOON, TAR], question)


# A memory of an earlier version of the files


def test_memory_with_passages_that_the_files_no_longer_have_is_not_measured(
    tmp_path: Path, config: MemoryConfig
) -> None:
    first = run(_load(tmp_path, [MOON, TAR], {"paragraphs": [TAR]}), config)
    changed = _load(tmp_path, [TAR, METAL], {"paragraphs": [TAR]})
    with pytest.raises(DatasetError):
        run(changed, config)
    assert run(changed, config.replace(force_index_from_scratch=True)).nodes == first.nodes
