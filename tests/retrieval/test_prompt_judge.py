"""A model that judges questions has a deadline."""

import threading

import numpy as np
import pytest
from numpy.typing import NDArray

from neurogated.core.judgements import QuestionJudgement, QuestionKind
from neurogated.errors import LLMError
from neurogated.retrieval.question_kinds import PromptJudge


class Fixed:
    """Gives one judgement when the test allows it."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()

    def judge(self, query: str, vector: NDArray[np.float32] | None = None) -> QuestionJudgement:  # noqa: ARG002
        self.may_answer.wait(30)
        return QuestionJudgement(QuestionKind.WHEN, 1.0, "fixed")


def test_a_model_that_is_late_is_not_waited_for_and_one_in_time_judges() -> None:
    model = Fixed()
    with pytest.raises(LLMError):
        PromptJudge(model, deadline=0.01).judge("Why?")
    model.may_answer.set()
    assert PromptJudge(model, deadline=30).judge("Why?").kind is QuestionKind.WHEN
