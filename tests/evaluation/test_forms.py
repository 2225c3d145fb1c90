"""All forms of HippoRAG's data sets give the same gold passages, answers and recall."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from neurogated import MemoryConfig
from neurogated.cli import main
from neurogated.evaluation.datasets import Dataset, load_dataset
from neurogated.evaluation.metrics import RECALL_CUTOFFS
from neurogated.evaluation.runner import run

Rows = list[dict[str, Any]]
Form = Callable[[Rows, Rows], tuple[Any, Rows]]

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
HOTPOTQA = ("heading", "inline", "hipporag", "hotpot") if SHARED.exists() else ()
"""Forms of HotpotQA's sample, where it is there."""

# Two passages have the same title, so the text must decide.
CORPUS: Rows = [
    {"idx": place, "title": title, "text": text}
    for place, (title, text) in enumerate(
        [
            ("Mercury", "Mercury is the smallest planet. It has no moon."),
            ("Tar", "Tar is black. It seals the hulls of boats."),
            ("Mercury", "Mercury is a metal. It is liquid in a warm room."),
            ("Bees", "Bees hum in June. They make honey from nectar."),
            ("Kayak", "A kayak is a narrow boat. Its hull leaks when it is old."),
        ]
    )
]
GOLD = {"q-metal": {2}, "q-boat": {1, 4}, "q-bees": {3}}


def _paragraph(idx: int, question: str) -> dict[str, Any]:
    return {**CORPUS[idx], "is_supporting": idx in GOLD[question]}


QUESTIONS: Rows = [
    {
        "id": name,
        "question": text,
        "answer": "the right answer",
        "answer_aliases": ["an alias"],
        "paragraphs": [_paragraph(idx, name) for idx in shown],
    }
    for name, text, shown in [
        ("q-metal", "Which metal is liquid?", (1, 2)),
        ("q-boat", "What seals the hull of a leaking kayak?", (4, 3, 1)),
        ("q-bees", "What do bees make?", (0, 3)),
    ]
]


def _bare(rows: Rows) -> Rows:
    return [{"title": row["title"], "text": row["text"]} for row in rows]


def _each_paragraph(questions: Rows, change: Callable[[int, dict[str, Any]], dict[str, Any]]) -> Rows:
    return [
        {**question, "paragraphs": [change(place, part) for place, part in enumerate(question["paragraphs"])]}
        for question in questions
    ]


def _numbered(rows: Rows, questions: Rows) -> tuple[Rows, Rows]:
    return rows, questions


def _by_position(rows: Rows, questions: Rows) -> tuple[Rows, Rows]:
    return _bare(rows), questions


def _numbers_alone(rows: Rows, questions: Rows) -> tuple[Rows, Rows]:
    return rows, _each_paragraph(
        questions, lambda _, part: {"idx": part["idx"], "is_supporting": part["is_supporting"]}
    )


def _heading(rows: Rows, questions: Rows) -> tuple[Rows, Rows]:
    return [{"idx": row["idx"], "text": f"{row['title']}\n{row['text']}"} for row in rows], questions


def _inline(rows: Rows, questions: Rows) -> tuple[Rows, Rows]:
    return [{"idx": row["idx"], "text": row["text"]} for row in rows], questions


def _musique(rows: Rows, questions: Rows) -> tuple[Rows, Rows]:
    """Return paragraphs with numbers within their question."""

    def within(place: int, part: dict[str, Any]) -> dict[str, Any]:
        return {
            "idx": place,
            "title": part["title"],
            "paragraph_text": part["text"],
            "is_supporting": part["is_supporting"],
        }

    return _bare(rows), _each_paragraph(questions, within)


def _hipporag_sample(rows: Rows, questions: Rows) -> tuple[Rows, Rows]:
    """Return paragraphs without any numbers."""
    _, asked = _musique(rows, questions)
    plain = _each_paragraph(asked, lambda _, part: {name: part[name] for name in part if name != "idx"})
    return _bare(rows), [{name: question[name] for name in question if name != "id"} for question in plain]


def _gold_alone(rows: Rows, questions: Rows) -> tuple[Rows, Rows]:
    """Return unlabelled paragraphs, which are all gold."""
    return _bare(rows), [
        {**question, "paragraphs": _bare([part for part in question["paragraphs"] if part["is_supporting"]])}
        for question in questions
    ]


def _supporting_facts(separator: str) -> Form:
    """Return HotpotQA's form, whose sentences begin with a space, or 2WikiMultiHopQA's, whose sentences do not."""

    def form(rows: Rows, questions: Rows) -> tuple[Rows, Rows]:
        asked = []
        for question in questions:
            rest = {name: value for name, value in question.items() if name not in {"id", "paragraphs"}}
            parts = question["paragraphs"]
            context = [[part["title"], part["text"].replace(". ", f".|{separator}").split("|")] for part in parts]
            facts = [[part["title"], place] for part in parts if part["is_supporting"] for place in (0, 1)]
            asked.append({**rest, "_id": question["id"], "supporting_facts": facts, "context": context})
        return _bare(rows), asked

    return form


def _contexts(rows: Rows, questions: Rows) -> tuple[Rows, Rows]:
    """Return PopQA's form, in which the answers are lists written as text."""
    asked = []
    for question in questions:
        rest = {"id": question["id"], "question": question["question"], "contexts": question["paragraphs"]}
        known = {"obj": "the right answer", "possible_answers": '["the right answer", "an alias"]', "o_aliases": "[]"}
        asked.append({**rest, **known, "o_wiki_title": "An alias"})
    return _bare(rows), asked


FORMS: dict[str, Form] = {
    "numbered": _numbered,
    "numbered by position": _by_position,
    "numbers alone": _numbers_alone,
    "title in the text": _heading,
    "no titles": _inline,
    "MuSiQue": _musique,
    "HippoRAG's sample": _hipporag_sample,
    "gold alone": _gold_alone,
    "HotpotQA": _supporting_facts(" "),
    "2WikiMultiHopQA": _supporting_facts(""),
    "PopQA": _contexts,
}


@pytest.fixture(params=FORMS)
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Dataset:
    """Return the small data set in one of the forms."""
    return _write(tmp_path, *FORMS[request.param](CORPUS, QUESTIONS))


def _write(folder: Path, corpus: object, questions: object) -> Dataset:
    (folder / "d_corpus.json").write_text(json.dumps(corpus), encoding="utf-8")
    (folder / "d.json").write_text(json.dumps(questions), encoding="utf-8")
    return load_dataset("d", folder, "hipporag")


@pytest.mark.parametrize("form", [*FORMS, *HOTPOTQA])
def test_every_form_names_the_same_gold_passages(tmp_path: Path, form: str) -> None:
    if form in FORMS:
        numbered = _write(tmp_path, CORPUS, QUESTIONS)
        assert [question.gold for question in numbered.collections[0].questions] == list(GOLD.values())
        dataset = _write(tmp_path, *FORMS[form](CORPUS, QUESTIONS))
    else:
        script, data = SHARED / "bench" / "variants.py", SHARED / "data"
        subprocess.run([sys.executable, str(script), str(data), "hotpotqa100", str(tmp_path)], check=True)
        numbered = load_dataset("hotpotqa100", data, "hipporag")
        dataset = load_dataset(f"hotpotqa100_{form}", tmp_path, "hipporag")
    expected, questions = numbered.collections[0].questions, dataset.collections[0].questions
    assert [question.gold for question in questions] == [question.gold for question in expected]
    ids = [question.id for question in questions]
    # Questions without an id are named by their position.
    assert ids == ([*range(len(ids))] if form == "HippoRAG's sample" else [question.id for question in expected])


def test_every_form_names_answer_and_alias(written: Dataset) -> None:
    for question in written.collections[0].questions:
        assert {"the right answer", "an alias"} <= {answer.lower() for answer in question.answers}


def test_every_form_is_scored_against_the_passages_that_are_meant(written: Dataset, config: MemoryConfig) -> None:
    report = run(written, config)
    lines = (report.folder / "rankings.jsonl").read_text(encoding="utf-8").splitlines()
    rankings = [json.loads(line)["ranked"] for line in lines]
    assert all(sorted(ranked) == list(range(len(CORPUS))) for ranked in rankings)
    for k in RECALL_CUTOFFS:
        found = [len(gold & set(ranked[:k])) / len(gold) for gold, ranked in zip(GOLD.values(), rankings, strict=True)]
        assert report.recall["all"][f"R@{k}"] == pytest.approx(100 * fmean(found))


# The runner prints how it read the numbers


def test_runner_says_that_numbers_are_not_those_of_the_corpus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(tmp_path, *_musique(CORPUS, QUESTIONS))
    place = ["--dataset_dir", str(tmp_path), "--save_dir", str(tmp_path / "out")]
    for command in (["index"], ["bench", "run"]):
        assert main([*command, "--dataset", "d", "--embedding_name", "hash", *place]) == 0
        told = [line for line in capsys.readouterr().err.splitlines() if "idx" in line]
        (line,) = told
        assert line.startswith("d.json: gold passages whose idx is not that of the corpus: 4 of 4; title and text")
    (metrics,) = (tmp_path / "out" / "d").glob("*/metrics.json")
    assert json.loads(metrics.read_text(encoding="utf-8"))["notes"] == told
