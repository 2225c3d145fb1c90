"""A judge of questions that asks a language model only where the offline judge is unsure, and not for long."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import numpy as np
from numpy.typing import NDArray

from neurogated.core.judgements import QuestionJudgement
from neurogated.core.ports import QuestionJudge
from neurogated.errors import LLMError

__all__ = ["CascadedJudge"]


class CascadedJudge:
    """Takes the offline judgement where it is sure; otherwise asks the model, which has a deadline."""

    def __init__(self, offline: QuestionJudge, model: QuestionJudge, *, sure: float, deadline: float) -> None:
        """Set the terms.

        Args:
            offline: asked first.
            model: asked where the offline judgement is weaker than `sure`.
            sure: 0–1, strength from which the offline judgement is taken.
            deadline: seconds that the model has to answer.
        """
        self._offline = offline
        self._model = model
        self._sure = sure
        self._deadline = deadline

    def judge(self, query: str, vector: NDArray[np.float32] | None = None) -> QuestionJudgement:
        """Return the judgement.

        Raises:
            LLMError: the model failed, or did not answer in time; its late answer stays in the cache for the next time.
        """
        judgement = self._offline.judge(query, vector)
        if judgement.strength >= self._sure:
            return judgement
        answer: Future[QuestionJudgement] = Future()
        # A daemon thread, so that a slow server does not hold up the end of the process.
        threading.Thread(target=self._ask, args=(query, vector, answer), name="kernel", daemon=True).start()
        try:
            return answer.result(self._deadline)
        except TimeoutError:
            raise LLMError(
                f"the language model did not judge the question within {self._deadline:g} seconds; "
                "raise llm_kernel_deadline or choose a quicker model"
            ) from None

    def _ask(self, query: str, vector: NDArray[np.float32] | None, answer: Future[QuestionJudgement]) -> None:
        try:
            answer.set_result(self._model.judge(query, vector))
        except LLMError as error:
            answer.set_exception(error)
