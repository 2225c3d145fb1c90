"""What every language model can do, and every wrapper around one."""

from __future__ import annotations

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.ports import Message
from neurogated.core.words import count_words

__all__ = ["AUTO", "LENGTH", "OFF", "BaseLLM", "Meta", "SupportsForgetting", "ask", "counted", "model_name"]

OFF, AUTO = "off", "auto"
"""Values of the setting `llm` that are not the name of a model."""

Meta = dict[str, Any]
"""About an answer: `model`; `prompt_tokens` and `completion_tokens` (words, where the model does not count);
`finish_reason` ("stop", `LENGTH`, or what the model says); `cached`, True if nobody was asked. A model of your own may
leave any of them out."""

LENGTH = "length"
"""The `finish_reason` of an answer that was cut off at `max_new_tokens`."""


class BaseLLM(ABC):
    """A language model; write `infer` for one of your own, and `name` where the class has several models."""

    @property
    def name(self) -> str:
        """What identifies the model; the name of its class unless it says otherwise."""
        return type(self).__name__

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
                `StructuredLLM` checks. A model that has no use for it may leave the parameter out.

        Raises:
            LLMError: the model cannot be reached, refuses, or its answer cannot be read.
            BudgetExceededError: the calls or tokens that were allowed are used up.
        """

    async def ainfer(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> tuple[str, Meta]:
        """Return what `infer` returns, without holding up the event loop; a call given up still ends in its thread."""
        return await asyncio.to_thread(ask, self, messages, schema)

    def close(self) -> None:  # noqa: B027 - most have nothing to release
        """Release connections, files and memory."""


def ask(llm: BaseLLM, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> tuple[str, Meta]:
    """Ask a model, and hand it the schema if its `infer` takes one."""
    parameters = inspect.signature(llm.infer).parameters.values()
    takes_schema = any(one.name == "schema" or one.kind is one.VAR_KEYWORD for one in parameters)
    return llm.infer(messages, schema=schema) if takes_schema else llm.infer(messages)


def counted(reported: object, texts: Sequence[str]) -> int:
    """Return a number of tokens as a model reports it, or else the words of the texts."""
    return reported if isinstance(reported, int) and reported >= 0 else sum(count_words(texts))


def model_name(config: MemoryConfig) -> str:
    """Return the name of the language model that the settings mean."""
    return config.llm_name if config.llm.use in (None, OFF, AUTO) else str(config.llm.use)


@runtime_checkable
class SupportsForgetting(Protocol):
    """Ability of a cache: to drop an answer that turned out to be of no use."""

    def forget(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> None:
        """Ask anew the next time these messages come."""
