"""What wraps a model: limits of concurrent calls and the budget of a run, and a cache of answers."""

import hashlib
import json
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass
from pathlib import Path
from typing import Any

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import SupportsStatistics
from neurogated.core.files import CacheFile
from neurogated.core.ports import Message
from neurogated.errors import BudgetExceededError
from neurogated.llm.base import BaseLLM, Meta, ask, counted

_log = logging.getLogger(__name__)

_KEPT = "the cache has all answers so far, so the same command continues from there"


class _Wrapper(BaseLLM):
    llm: BaseLLM

    @property
    def name(self) -> str:
        return self.llm.name

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self.llm.parameters

    def close(self) -> None:
        self.llm.close()


@dataclass(eq=False)
class LimitedLLM(_Wrapper):
    """Wraps a model. At most `concurrency` calls run at once. Further calls wait, or fail when the budget is used up.

    Failed calls count as calls. Tokens are known only after a call, so calls that run when the budget ends still return
    their answers. Prices are those of a million tokens, of prompts and of answers.
    """

    llm: BaseLLM
    _: KW_ONLY
    concurrency: InitVar[int]
    max_calls: float | None = None
    max_tokens: float | None = None
    max_cost: float | None = None
    prices: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self, concurrency: int) -> None:
        self._slots, self._lock = threading.BoundedSemaphore(concurrency), threading.Lock()
        self._calls = self._prompt_tokens = self._completion_tokens = 0

    def infer(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> tuple[str, Meta]:
        """Return the wrapped model's answer; raises BudgetExceededError for a used budget of calls, tokens or money."""
        with self._slots:
            self._count_call()
            begin = time.perf_counter()
            text, meta = ask(self.llm, messages, schema)
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
        """Return the calls, including failed ones, the tokens of prompts and of answers, and with prices the cost."""
        with self._lock:
            return {
                "calls": self._calls,
                "prompt tokens": self._prompt_tokens,
                "completion tokens": self._completion_tokens,
                **({"cost": self._cost} if any(self.prices) else {}),
            }

    @property
    def _cost(self) -> float:
        return (self._prompt_tokens * self.prices[0] + self._completion_tokens * self.prices[1]) / 1_000_000

    def _count_call(self) -> None:
        with self._lock:
            tokens = self._prompt_tokens + self._completion_tokens
            limits = (self.max_calls, self.max_tokens, self.max_cost)
            used = {"number of calls": self._calls, "number of tokens": tokens, "cost": self._cost}
            for (what, number), most in zip(used.items(), limits, strict=True):
                if most is not None and number >= most:
                    raise BudgetExceededError(
                        f"the {what} of language model {self.name!r} is {number:.10g}, and llm.budget allows {most:g}; "
                        f"raise it ({_KEPT})"
                    )
            self._calls += 1


class CachedLLM(_Wrapper):
    """Wraps a model and caches its answers in an SQLite file. Empty answers are not cached.

    The `meta` of a cached answer holds its original token counts, and `cached` is True. The file is derived: a damaged
    entry is logged, and the model is asked again.
    """

    def __init__(self, llm: BaseLLM, path: Path, max_bytes: int = MemoryConfig().cache_bytes) -> None:
        """Open or create the cache, of at most so many bytes. If neither is possible, nothing is cached."""
        self.llm = llm
        self._file = CacheFile(path, max_bytes)

    def infer(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> tuple[str, Meta]:
        """Return the cached answer, or the wrapped model's; raises MemoryClosedError after `close`."""
        key = self._key(messages, schema)
        kept = self._file.get([key], _parsed).get(key)
        if kept is not None:
            text, meta = kept
            return text, {**meta, "cached": True}
        since = self._file.epoch()
        text, meta = ask(self.llm, messages, schema)
        if text.strip():
            self._file.put({key: json.dumps([text, meta]).encode()}, since)
        return text, meta

    def epoch(self) -> tuple[Path, int]:
        return self._file.path, self._file.epoch()

    def forget(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> None:
        """Drop the answer to these messages, so that the next call asks the wrapped model."""
        self._file.remove([self._key(messages, schema)])

    def clear(self) -> None:
        """Delete all answers, including those on disk. Raises StorageError if the file cannot be changed now."""
        self._file.clear()

    def statistics(self) -> dict[str, int | float]:
        """Return the cache's hits, misses and bytes, and the wrapped model's statistics."""
        wrapped = self.llm.statistics() if isinstance(self.llm, SupportsStatistics) else {}
        return {**wrapped, **self._file.statistics()}

    def close(self) -> None:
        """Close the file and the wrapped model."""
        self._file.close()
        super().close()

    def _key(self, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> bytes:
        asked = {"messages": [dict(message) for message in messages], "schema": schema, **self.parameters}
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).digest()


def _parsed(value: bytes) -> tuple[str, Meta] | None:
    try:
        match json.loads(value):
            case [str(text), dict(meta)]:
                return text, meta
    except ValueError:
        pass
    return None
