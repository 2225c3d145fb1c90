"""JSON answers that fit a schema, from models that add thoughts, code fences or chat, or make mistakes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from neurogated.core.abilities import SupportsStatistics
from neurogated.core.ports import Message
from neurogated.core.reading import SupportsReading, reading
from neurogated.errors import LLMError
from neurogated.llm.base import LENGTH, BaseLLM, ask
from neurogated.llm.bounds import without_bounds
from neurogated.llm.cache import CachedLLM

_THOUGHT_TAG = r"(?:think|thinking|thought|reasoning)\s*>"
# The opening tag may be part of the model's chat template; then the answer has only the closing tag.
_THOUGHT_END = re.compile(r"</\s*" + _THOUGHT_TAG, re.IGNORECASE)
_THOUGHT_BEGIN = re.compile(r"<\s*" + _THOUGHT_TAG, re.IGNORECASE)
# Small models write unescaped line breaks in strings.
_DECODER = json.JSONDecoder(strict=False)

# An error quotes this many characters of a wrong answer.
_SHOWN = 300


class _UnfitAnswerError(Exception):
    """An answer holds no fitting JSON object. The message is written for the model."""


class StructuredLLM:
    """Wraps a model as a `core.ports.LanguageModel`."""

    def __init__(self, llm: BaseLLM) -> None:
        self._llm = llm

    @property
    def name(self) -> str:
        return self._llm.name

    def infer_json(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the object in the model's answer that fits the schema; of several, the last one.

        Text in `<think>` tags and around the object is ignored, and so are code fences. If no object fits, the model
        gets its answer and the error, and tries once more. Unusable answers are removed from the cache.

        Raises:
            LLMError: the model cannot be reached, its answer was cut off, or two answers did not fit.
            BudgetExceededError: the budget of calls or tokens is used up.
        """
        # The second request quotes the first, so its texts were read before the first.
        with reading([self._llm] if isinstance(self._llm, SupportsReading) else []):
            return self._answer(messages, schema)

    def _answer(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> dict[str, Any]:
        # The length bounds are for the server; a slightly longer answer is valid.
        validator = Draft202012Validator(without_bounds(schema))
        text, meta = ask(self._llm, messages, schema)
        try:
            return _fitting_object(text, validator)
        except _UnfitAnswerError as error:
            repair = [*messages, *_repair_turns(text, error, schema)]
            if meta.get("finish_reason") == LENGTH:
                self._forget([messages], schema)
                raise self._cut_off(text) from error
        text, meta = ask(self._llm, repair, schema)
        try:
            return _fitting_object(text, validator)
        except _UnfitAnswerError as error:
            self._forget([messages, repair], schema)
            if meta.get("finish_reason") == LENGTH:
                raise self._cut_off(text) from error
            raise LLMError(
                f"two answers of language model {self.name!r} did not fit the schema: {str(error)[:_SHOWN]}; it said "
                f"{text[-_SHOWN:]!r}; choose a more able model with llm_name"
            ) from error

    def statistics(self) -> dict[str, int | float]:
        return dict(self._llm.statistics()) if isinstance(self._llm, SupportsStatistics) else {}

    def close(self) -> None:
        self._llm.close()

    def _cut_off(self, text: str) -> LLMError:
        return LLMError(
            f"the answer of language model {self.name!r} was cut off ({text[-_SHOWN:]!r}); raise max_new_tokens"
        )

    def _forget(self, conversations: Sequence[Sequence[Message]], schema: Mapping[str, Any]) -> None:
        if isinstance(self._llm, CachedLLM):
            for conversation in conversations:
                self._llm.forget(conversation, schema=schema)


def _repair_turns(text: str, complaint: _UnfitAnswerError, schema: Mapping[str, Any]) -> list[Message]:
    request = (
        f"Your answer is of no use: {complaint}. Answer again, with one JSON object and nothing else. It must fit this "
        f"JSON schema:\n{json.dumps(schema, ensure_ascii=False)}"
    )
    # Some servers refuse an empty turn.
    return [{"role": "assistant", "content": _spoken(text) or "(nothing)"}, {"role": "user", "content": request}]


def _spoken(text: str) -> str:
    """Return the text after the model's thoughts."""
    after_thoughts = _THOUGHT_END.split(text)[-1]
    return _THOUGHT_BEGIN.split(after_thoughts)[0].strip()


def _fitting_object(text: str, validator: Draft202012Validator) -> dict[str, Any]:
    complaints: list[str] = []
    objects = list(_objects(_spoken(text)))
    for found in objects[::-1]:
        error = best_match(validator.iter_errors(found))
        if error is None:
            return found
        complaints.append(f"at {error.json_path}, {error.message}")
    raise _UnfitAnswerError(complaints[0] if complaints else "it holds no whole JSON object")


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the outermost JSON objects in `text`."""
    at = text.find("{")
    while at >= 0:
        try:
            found, end = _DECODER.raw_decode(text, at)
            # The decoder accepts lone surrogates, NaN and infinity, but they cannot be encoded or stored.
            json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
        except ValueError:
            end = at + 1
        except RecursionError:
            return
        else:
            yield found
        at = text.find("{", end)
