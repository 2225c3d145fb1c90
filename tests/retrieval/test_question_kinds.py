"""Offline judgement of questions."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from neurogated import MemoryConfig
from neurogated.core.judgements import QuestionKind
from neurogated.core.ports import Embedder
from neurogated.embedding.registry import HashEmbedder
from neurogated.retrieval.kernel_generator import OfflineQuestionJudge, fitted_kinds, read_question
from neurogated.session.compose import build_text_embedder
from tests.golden import rows

HERE = Path(__file__).parent
"""Kind, language and question; a third has no usual cue word, none was fitted to."""


@pytest.fixture(scope="module")
def bundled() -> Embedder:
    return build_text_embedder(MemoryConfig())


@pytest.fixture(scope="module")
def judge(bundled: Embedder) -> OfflineQuestionJudge:
    return OfflineQuestionJudge(bundled)


@pytest.fixture(scope="module")
def wordy() -> OfflineQuestionJudge:
    """Return the judge with the embedder that needs no model."""
    return OfflineQuestionJudge(HashEmbedder())


# Accuracy


def test_weights_of_the_package_are_those_of_its_examples(bundled: Embedder) -> None:
    path = HERE.parents[1] / "tools" / "fit_questions.py"
    spec = importlib.util.spec_from_file_location("fit_questions", path)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    fresh, packaged = tool.fit(tool.examples(), bundled), fitted_kinds()
    assert (fresh.embedder, fresh.kinds) == (packaged.embedder, packaged.kinds)
    for name in ("weights", "cue_weights"):
        made, shipped = getattr(fresh, name), getattr(packaged, name)
        assert np.abs(made - shipped).max() < 0.01 * np.abs(shipped).max()


# Misleading words


@pytest.mark.parametrize(
    ("text", "kind"),
    rows(__file__, "kinds"),
)
def test_words_that_mislead_do_not(judge: OfflineQuestionJudge, text: str, kind: str) -> None:
    assert judge.judge(text).kind.value == kind


# Behaviours


@pytest.mark.parametrize("filler", ["word ", "what ", "没有标点", "a.b ", "! "])
def test_very_long_text_is_judged_by_its_ends(wordy: OfflineQuestionJudge, filler: str) -> None:
    judged = wordy.judge(filler * 30_000 + ". Why did they leave?")
    assert judged.kind is QuestionKind.WHY


@pytest.mark.parametrize("text", ["Die Pumpe war kaputt.", "La pompe est en panne.", "La bomba no funciona."])
def test_a_foreign_statement_asks_nothing(text: str) -> None:
    assert not read_question(text).is_question
