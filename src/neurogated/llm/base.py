"""What every language model can do, and every wrapper around one."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from neurogated.core.ports import Message

__all__ = ["LENGTH", "BaseLLM", "Meta", "SupportsForgetting"]

Meta = dict[str, Any]
"""About an answer: `model`; `prompt_tokens` and `completion_tokens` (words, where the model does not count);
`finish_reason` ("stop", `LENGTH`, or what the model says); `cached`, True if nobody was asked."""

LENGTH = "length"
"""The `finish_reason` of an answer that was cut off at `max_new_tokens`."""


class BaseLLM(ABC):
    """A language model; write `name` and `infer` for one of your own."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What identifies the model."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What decides its answers besides messages and schema, as JSON values."""
        return {"model": self.name}

    @abstractmethod
    def infer(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> tuple[str, Meta]:
        """Return the model's answer as it came, and what is known about it.

        Args:
            messages: the conversation so far; the last one is the user's.
            schema: JSON schema for the answer, handed to servers that can hold a model to one. It promises nothing:
                `StructuredLLM` checks.

        Raises:
            LLMError: the model cannot be reached, refuses, or its answer cannot be read.
            BudgetExceededError: the calls or tokens that were allowed are used up.
        """

    async def ainfer(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> tuple[str, Meta]:
        """Return what `infer` returns, without holding up the event loop; a call given up still ends in its thread."""
        return await asyncio.to_thread(self.infer, messages, schema=schema)

    def close(self) -> None:  # noqa: B027 - most have nothing to release
        """Release connections, files and memory."""


@runtime_checkable
class SupportsForgetting(Protocol):
    """Ability of a cache: to drop an answer that turned out to be of no use."""

    def forget(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> None:
        """Ask anew the next time these messages come."""
