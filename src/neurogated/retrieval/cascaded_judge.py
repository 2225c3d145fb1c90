"""Asks a language model for the kind of a question if the offline judge is unsure, with a deadline."""

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
        answer: Future[QuestionJudgement] = Future()
        # A slow server does not delay the end of the process, because the thread is a daemon.
        threading.Thread(target=self._ask, args=(query, vector, answer), name="kernel", daemon=True).start()
        try:
            return answer.result(self._deadline)
        except TimeoutError:
            raise LLMError(
                f"the language model did not judge the question within {self._deadline:g} seconds; "
                "raise llm.kernel_deadline or choose a faster model"
            ) from None

    def _ask(self, query: str, vector: NDArray[np.float32] | None, answer: Future[QuestionJudgement]) -> None:
        try:
            answer.set_result(self._model.judge(query, vector))
        except LLMError as error:
            answer.set_exception(error)
