"""Limits of concurrent calls, and the budget of a run in calls and tokens."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from neurogated.core.ports import Message
from neurogated.errors import BudgetExceededError
from neurogated.llm.base import BaseLLM, Meta, ask, counted

_log = logging.getLogger(__name__)

_KEPT = "the cache has all answers so far, so the same command continues from there"


class LimitedLLM(BaseLLM):
    """Wraps a model. At most `concurrency` calls run at once. Further calls wait, or fail when the budget is used up.

    Failed calls count as calls. Tokens are known only after a call, so calls that run when the budget ends still return
    their answers.
    """

    def __init__(
        self,
        llm: BaseLLM,
        *,
        concurrency: int,
        max_calls: int | None = None,
        max_tokens: int | None = None,
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
        return self._llm.name

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self._llm.parameters

    def infer(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> tuple[str, Meta]:
        """Return the wrapped model's answer.

        Raises:
            BudgetExceededError: the budget of calls or tokens is used up.
            LLMError: from the wrapped model.
        """
        with self._slots:
            self._count_call()
            begin = time.perf_counter()
            text, meta = ask(self._llm, messages, schema)
            asked = counted(meta.get("prompt_tokens"), [message["content"] for message in messages])
            answered = counted(meta.get("completion_tokens"), [text])
            _log.debug(
                "%s: %d prompt tokens, %d answer tokens, %.2f s",
                self.name,
                asked,
                answered,
                time.perf_counter() - begin,
            )
            with self._lock:
                self._prompt_tokens += asked
                self._completion_tokens += answered
            return text, meta

    def statistics(self) -> dict[str, int | float]:
        """Return the calls, including failed ones, the tokens of prompts and those of answers."""
        with self._lock:
            return {
                "calls": self._calls,
                "prompt tokens": self._prompt_tokens,
                "completion tokens": self._completion_tokens,
            }

    def close(self) -> None:
        self._llm.close()

    def _count_call(self) -> None:
        with self._lock:
            if self._max_calls is not None and self._calls >= self._max_calls:
                raise BudgetExceededError(
                    f"all {self._max_calls} calls of language model {self.name!r} that llm.budget allows are used "
                    f"up; raise it ({_KEPT})"
                )
            tokens = self._prompt_tokens + self._completion_tokens
            if self._max_tokens is not None and tokens >= self._max_tokens:
                raise BudgetExceededError(
                    f"language model {self.name!r} has used {tokens} tokens, but llm.budget allows "
                    f"{self._max_tokens}; raise it ({_KEPT})"
                )
            self._calls += 1
