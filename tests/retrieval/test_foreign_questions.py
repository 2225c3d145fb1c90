"""Kinds of German, French and Spanish questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from neurogated import MemoryConfig, compose
from neurogated.retrieval.question_cues import read_question
from neurogated.retrieval.question_kinds import OfflineQuestionJudge

ASKED = [
    line.split("\t")
    for line in (Path(__file__).parent / "questions_foreign.tsv").read_text(encoding="utf-8").splitlines()[1:]
]


@pytest.fixture(scope="module")
def judge() -> OfflineQuestionJudge:
    return OfflineQuestionJudge(compose.build(MemoryConfig(storage="memory")).embedder)


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_kinds_of_questions_are_told_apart(judge: OfflineQuestionJudge, language: str) -> None:
    asked = [(kind, question) for kind, spoken, question in ASKED if spoken == language]
    assert len(asked) == 30
    assert sum(judge.judge(question).kind.value == kind for kind, question in asked) >= 0.9 * len(asked)


@pytest.mark.parametrize("text", ["Die Pumpe war kaputt.", "La pompe est en panne.", "La bomba no funciona."])
def test_a_statement_asks_nothing(text: str) -> None:
    assert not read_question(text).is_question


@pytest.mark.parametrize("text", ["Sag mir, wann er fährt.", "Dis-moi où est la clé.", "Dime dónde está."])
def test_a_request_asks(text: str) -> None:
    assert read_question(text).is_question
