"""The interface of language models and of their wrappers; and limits of answers, derived from their JSON schemas."""

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.ports import Message
from neurogated.text.keywords import count_words

OFF, AUTO = "off", "auto"
"""Values of the setting `llm.use` that are not model names."""

Meta = dict[str, Any]
"""Metadata of an answer: `model`; `prompt_tokens` and `completion_tokens` (words, if the model does not count tokens);
`finish_reason` ("stop", `LENGTH`, or the model's own word); `cached`, True for a cache hit. Your own model may omit any
of these."""

LENGTH = "length"
"""The `finish_reason` of an answer that was cut off at `max_new_tokens`."""


class BaseLLM(ABC):
    """A language model. Your own subclass defines `infer`, and `name` if the class serves several models."""

    @property
    def name(self) -> str:
        """The model's identifier; default: the name of its class."""
        return type(self).__name__

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The JSON values that determine its answers, besides messages and schema."""
        return {"model": self.name}

    @abstractmethod
    def infer(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> tuple[str, Meta]:
        """Return the model's raw answer and its metadata.

        Args:
            messages: the conversation so far; the last message is the user's.
            schema: JSON schema of the answer, for servers that support one. The answer may still not fit, so
                `StructuredLLM` checks it. A subclass that ignores schemas may omit this parameter.

        Raises:
            LLMError: the model cannot be reached, refuses, or its answer cannot be read.
            BudgetExceededError: the budget of calls or tokens is used up.
        """

    async def ainfer(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> tuple[str, Meta]:
        """Run `infer` in a thread, without blocking the event loop. A cancelled call still finishes in its thread."""
        return await asyncio.to_thread(ask, self, messages, schema)

    def close(self) -> None:  # noqa: B027 - most have nothing to release
        """Release connections, files and memory."""


class ConfiguredLLM(BaseLLM):
    """A model that the settings name: `llm_name`, `temperature`, `max_new_tokens` and `llm.timeout`."""

    def __init__(self, config: MemoryConfig) -> None:
        self._model = model_name(config)
        self._temperature = config.temperature
        self._max_new_tokens = config.max_new_tokens
        self._timeout = config.llm.timeout

    @property
    def name(self) -> str:
        """The model's name or folder."""
        return self._model

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Model, temperature and maximum length of an answer."""
        return {"model": self._model, "temperature": self._temperature, "max_new_tokens": self._max_new_tokens}


def ask(llm: BaseLLM, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> tuple[str, Meta]:
    """Ask a model, and pass the schema if its `infer` has this parameter."""
    parameters = inspect.signature(llm.infer).parameters.values()
    takes_schema = any(one.name == "schema" or one.kind is one.VAR_KEYWORD for one in parameters)
    return llm.infer(messages, schema=schema) if takes_schema else llm.infer(messages)


def counted(reported: object, texts: Sequence[str]) -> int:
    """Return the number of tokens that a model reports, or else the number of words of the texts."""
    return reported if isinstance(reported, int) and reported >= 0 else sum(count_words(texts))


def model_name(config: MemoryConfig) -> str:
    """Return the name of the configured language model."""
    return config.llm_name if config.llm.use in (None, OFF, AUTO) else str(config.llm.use)


_THOUGHT_TOKENS = 512
"""Tokens for thoughts and chat besides the answer."""
_CHARACTERS_A_TOKEN = 2
_FRAME = 16
"""Characters of a key, of quotation marks and brackets."""
_BOUNDS = frozenset({"maxLength", "maxItems"})


def answer_tokens(schema: Mapping[str, Any] | None, most: int) -> int:
    """Return the token limit of an answer: the longest fitting answer and some thought, and at most `most`.

    The limit stops a model that repeats itself long before the timeout.
    """
    characters = None if schema is None else _longest(schema)
    return most if characters is None else min(most, characters // _CHARACTERS_A_TOKEN + _THOUGHT_TOKENS)


def without_bounds(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a schema without `maxLength` and `maxItems`. Some servers reject these, and validation ignores them."""
    if isinstance(schema, Mapping):
        return {name: without_bounds(value) for name, value in schema.items() if name not in _BOUNDS}
    return [without_bounds(value) for value in schema] if isinstance(schema, list) else schema


def _longest(schema: Mapping[str, Any]) -> int | None:
    """Return the maximum characters of a fitting value, None if the schema sets no bound."""
    match schema.get("type"):
        case "object":
            parts = [_longest(value) for value in schema.get("properties", {}).values()]
            return None if None in parts else sum(part + _FRAME for part in parts if part is not None)
        case "array":
            item = _longest(schema.get("items", {}))
            return None if item is None or "maxItems" not in schema else schema["maxItems"] * (item + _FRAME)
        case "string":
            if "enum" in schema:
                return max(map(len, schema["enum"]))
            return schema.get("maxLength")
        case "number" | "integer" | "boolean" | "null":
            return _FRAME
        case _:
            return None
