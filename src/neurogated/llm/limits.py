"""How many calls run at once, and how many calls and tokens a run may use."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from neurogated.core.ports import Message
from neurogated.errors import BudgetExceededError
from neurogated.llm.base import BaseLLM, Meta, ask, counted

__all__ = ["LimitedLLM"]

_log = logging.getLogger(__name__)

_KEPT = "answers so far are kept, and the same command goes on from there"


class LimitedLLM(BaseLLM):
    """Wraps a model; further calls wait while `concurrency` run, and fail once the budget is used up.

    Failed calls count as calls. Tokens are known only after a call, so the calls that run when the last token is spent
    still end and are answered.
    """

    def __init__(
        self, llm: BaseLLM, *, concurrency: int, max_calls: int | None = None, max_tokens: int | None = None
    ) -> None:
        self._llm = llm
        self._slots = threading.BoundedSemaphore(concurrency)
        self._max_calls = max_calls
        self._max_tokens = max_tokens
        self._lock = threading.Lock()
        self._calls = 0
        self._prompt_tokens = 0
        self._completion_tokens = 0

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._llm.name

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The wrapped model's parameters."""
        return self._llm.parameters

    @property
    def calls(self) -> int:
        """Calls made so far."""
        return self._calls

    @property
    def tokens(self) -> int:
        """Tokens used so far, questions and answers together."""
        return self._prompt_tokens + self._completion_tokens

    def infer(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> tuple[str, Meta]:
        """Return the wrapped model's answer.

        Raises:
            BudgetExceededError: the calls or tokens that were allowed are used up.
            LLMError: as the wrapped model.
        """
        with self._slots:
            self._count_call()
            begin = time.perf_counter()
            text, meta = ask(self._llm, messages, schema)
            asked = counted(meta.get("prompt_tokens"), [message["content"] for message in messages])
            answered = counted(meta.get("completion_tokens"), [text])
            _log.debug(
                "%s: %d tokens asked, %d answered, %.2f s", self.name, asked, answered, time.perf_counter() - begin
            )
            with self._lock:
                self._prompt_tokens += asked
                self._completion_tokens += answered
            return text, meta

    def statistics(self) -> dict[str, int | float]:
        """Return how many calls were made, failed ones too, and how many tokens were asked and answered."""
        with self._lock:
            return {
                "calls": self._calls,
                "prompt tokens": self._prompt_tokens,
                "completion tokens": self._completion_tokens,
            }

    def close(self) -> None:
        """Close the wrapped model."""
        self._llm.close()

    def _count_call(self) -> None:
        with self._lock:
            if self._max_calls is not None and self._calls >= self._max_calls:
                raise BudgetExceededError(
                    f"the {self._max_calls} calls of language model {self.name!r} that llm_max_calls allows are used "
                    f"up; raise llm_max_calls ({_KEPT})"
                )
            if self._max_tokens is not None and self.tokens >= self._max_tokens:
                raise BudgetExceededError(
                    f"language model {self.name!r} has used {self.tokens} tokens and llm_max_tokens allows "
                    f"{self._max_tokens}; raise llm_max_tokens ({_KEPT})"
                )
            self._calls += 1
