"""A model that judges questions has a deadline."""

import threading

import numpy as np
import pytest
from numpy.typing import NDArray

from neurogated.core.judgements import QuestionJudgement, QuestionKind
from neurogated.errors import LLMError
from neurogated.retrieval.question_kinds import PromptJudge


class Fixed:
    """Gives one judgement, or fails, when the test allows it."""

    def __init__(self, kind: QuestionKind, strength: float, error: LLMError | None = None) -> None:
        self.judgement, self.error = QuestionJudgement(kind, strength, "fixed"), error
        self.asked, self.may_answer = 0, threading.Event()
        self.may_answer.set()

    def judge(self, query: str, vector: NDArray[np.float32] | None = None) -> QuestionJudgement:  # noqa: ARG002
        self.asked += 1
        self.may_answer.wait(30)
        if self.error is not None:
            raise self.error
        return self.judgement


def test_a_model_that_answers_in_time_judges() -> None:
    assert PromptJudge(Fixed(QuestionKind.WHEN, 1.0), deadline=30).judge("Why?").kind is QuestionKind.WHEN


def test_a_model_that_is_late_is_not_waited_for() -> None:
    model = Fixed(QuestionKind.WHEN, 1.0)
    model.may_answer.clear()
    with pytest.raises(LLMError):
        PromptJudge(model, deadline=0.01).judge("Why?")
    model.may_answer.set()
