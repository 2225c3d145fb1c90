"""Asks a language model for the kind of a question if the offline judge is unsure, with a deadline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neurogated.core.deadline import answer_within
from neurogated.core.judgements import QuestionJudgement
from neurogated.core.ports import QuestionJudge
from neurogated.errors import LLMError


class CascadedJudge:
    """Returns the offline judgement if it is sure, else the judgement of the model, which has a deadline."""

    def __init__(self, offline: QuestionJudge, model: QuestionJudge, *, sure: float, deadline: float) -> None:
        """Take the two judges.

        Args:
            offline: asked first.
            model: asked if the offline judgement is weaker than `sure`.
            sure: 0–1, strength from which the offline judgement suffices.
            deadline: seconds that the model has to answer.
        """
        self._offline = offline
        self._model = model
        self._sure = sure
        self._deadline = deadline

    def judge(self, query: str, vector: NDArray[np.float32] | None = None) -> QuestionJudgement:
        """Return the judgement.

        Raises:
            LLMError: the model failed or missed the deadline. The cache keeps a late answer for the next time.
        """
        judgement = self._offline.judge(query, vector)
        if judgement.strength >= self._sure:
            return judgement
        try:
            return answer_within(self._deadline, lambda: self._model.judge(query, vector), "kernel")
        except TimeoutError:
            raise LLMError(
                f"the language model did not judge the question within {self._deadline:g} seconds; "
                "raise llm.kernel_deadline or choose a faster model"
            ) from None
