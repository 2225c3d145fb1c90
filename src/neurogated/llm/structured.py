"""JSON answers that fit a schema, from models that add thoughts, code fences, chat or keys, or make mistakes."""

import copy
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from neurogated.core.abilities import SupportsStatistics
from neurogated.core.contexts import SupportsReading, reading
from neurogated.core.ports import Message
from neurogated.errors import UnusableAnswerError
from neurogated.llm.base import LENGTH, BaseLLM, ask, without_bounds
from neurogated.llm.wrappers import CachedLLM

_THOUGHT_TAG = r"(?:think|thinking|thought|reasoning)\s*>"
# The opening tag may be part of the model's chat template; then the answer has only the closing tag.
_THOUGHT_END = re.compile(r"</\s*" + _THOUGHT_TAG, re.IGNORECASE)
_THOUGHT_BEGIN = re.compile(r"<\s*" + _THOUGHT_TAG, re.IGNORECASE)
# Small models write unescaped line breaks in strings.
_DECODER = json.JSONDecoder(strict=False)

# An error quotes this many characters of a wrong answer.
_SHOWN = 300
# Longer answers are not repaired: the time grows faster than the length.
_LONGEST_REPAIRED = 20_000
_REPAIRED, _DROPPED = "repaired answers", "dropped keys"


class _Fitting(NamedTuple):
    """The object of an answer, and what was done to it."""

    value: dict[str, Any]
    dropped: int = 0
    """Keys that the schema does not know."""
    is_repaired: bool = False
    """Whether it was no JSON, as with a comma too many."""


class _UnfitAnswerError(Exception):
    """An answer holds no fitting JSON object. The message is written for the model."""

    is_cut_off = False
    """Whether a part of several is missing, which the model would leave out again."""


class StructuredLLM:
    """Wraps a model as a `core.ports.LanguageModel`."""

    def __init__(self, llm: BaseLLM) -> None:
        self._llm = llm
        self._mended = Counter[str]()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._llm.name

    def infer_json(
        self, messages: Sequence[Message], schema: Mapping[str, Any], *, accepts: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the object in the model's answer that fits the schema; of several, the last one.

        Text in `<think>` tags and around the object is ignored, and so are code fences and keys that the schema does
        not know. Small faults, such as a comma too many, are repaired; `statistics` counts both. If no object fits, the
        model gets its answer and the error, and tries once more. Unusable answers are removed from the cache.

        What is accepted may have a looser schema than the one that servers are told. Then the lists of several objects
        are joined, and a bare list and objects of other forms are taken for entries of its first list.

        Raises:
            UnusableAnswerError: the answer was cut off, or two answers did not fit.
            LLMError: the model cannot be reached.
            BudgetExceededError: the budget of calls or tokens is used up.
        """
        # The second request quotes the first, so its texts were read before the first.
        with reading([self._llm] if isinstance(self._llm, SupportsReading) else []):
            return self._answer(messages, schema, accepts)

    def _answer(
        self, messages: Sequence[Message], schema: Mapping[str, Any], accepts: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        # The length bounds are for the server; a slightly longer answer is valid.
        validator = Draft202012Validator(without_bounds(schema if accepts is None else accepts))
        text, meta = ask(self._llm, messages, schema)
        try:
            return self._counted(_fitting_object(text, validator, joined=accepts is not None))
        except _UnfitAnswerError as error:
            request = (
                f"Your answer is of no use: {error}. Answer again, with one JSON object and nothing else. It must fit "
                f"this JSON schema:\n{json.dumps(schema, ensure_ascii=False)}"
            )
            said = _spoken(text) or "(nothing)"  # some servers refuse an empty turn
            turns = {"role": "assistant", "content": said}, {"role": "user", "content": request}
            repair = [*messages, *turns]
            if meta.get("finish_reason") == LENGTH or error.is_cut_off:
                self._forget([messages], schema)
                raise self._cut_off(text, validator) from error
        text, meta = ask(self._llm, repair, schema)
        try:
            return self._counted(_fitting_object(text, validator, joined=accepts is not None))
        except _UnfitAnswerError as error:
            self._forget([messages, repair], schema)
            if meta.get("finish_reason") == LENGTH:
                raise self._cut_off(text, validator) from error
            raise UnusableAnswerError(
                f"two answers of language model {self.name!r} did not fit the schema: {str(error)[:_SHOWN]}; it said "
                f"{text[-_SHOWN:]!r}; choose a more able model with llm_name",
                reason="two answers did not fit the schema",
            ) from error

    def _counted(self, found: _Fitting) -> dict[str, Any]:
        with self._lock:
            self._mended.update({_REPAIRED: found.is_repaired, _DROPPED: found.dropped})
        return found.value

    def statistics(self) -> dict[str, int | float]:
        """Return the model's statistics, and how many answers were repaired and keys dropped, if any."""
        wrapped = self._llm.statistics() if isinstance(self._llm, SupportsStatistics) else {}
        return {**wrapped, **+self._mended}

    def close(self) -> None:
        self._llm.close()

    def _cut_off(self, text: str, validator: Draft202012Validator) -> UnusableAnswerError:
        partial = next(filter(validator.is_valid, _repaired(_spoken(text), _first_list(validator))), None)
        return UnusableAnswerError(
            f"the answer of language model {self.name!r} was cut off ({text[-_SHOWN:]!r}); raise max_new_tokens",
            partial,
            reason="the answer was cut off",
        )

    def _forget(self, conversations: Sequence[Sequence[Message]], schema: Mapping[str, Any]) -> None:
        if isinstance(self._llm, CachedLLM):
            for conversation in conversations:
                self._llm.forget(conversation, schema=schema)


def _spoken(text: str) -> str:
    after_thoughts = _THOUGHT_END.split(text)[-1]
    return _THOUGHT_BEGIN.split(after_thoughts)[0].strip()


def _fitting_object(text: str, validator: Draft202012Validator, *, joined: bool = False) -> _Fitting:
    try:
        if joined:
            return _joined(_spoken(text), validator)
        complaints: list[str] = []
        spoken, first_list = _spoken(text), _first_list(validator)
        is_cut_off = spoken.count("{") > spoken.count("}")
        repaired = () if is_cut_off else _repaired(spoken, first_list)
        for is_repaired, objects in ((False, _objects(spoken, first_list)), (True, repaired)):
            for found in list(objects)[::-1]:
                if (error := best_match(validator.iter_errors(found))) is None:
                    return _Fitting(found, 0, is_repaired)
                pruned, dropped = _without_unknown_keys(found, validator)
                if dropped and pruned and validator.is_valid(pruned):
                    return _Fitting(pruned, dropped, is_repaired)
                complaints.append(f"at {error.json_path}, {error.message[:_SHOWN]}")
        raise _UnfitAnswerError(complaints[0] if complaints else "it holds no whole JSON object")
    except RecursionError:
        raise _UnfitAnswerError("it is nested too deeply") from None


def _joined(text: str, validator: Draft202012Validator) -> _Fitting:
    """Return one object with the lists of all in a text; objects that do not fit are entries of its first list."""
    first_list = str(_first_list(validator))
    is_faulty, is_cut_off = _faults(text, first_list)
    if is_cut_off:
        error = _UnfitAnswerError("it was cut off")
        error.is_cut_off = True
        raise error
    wholes = list[_Fitting]()
    for is_repaired, objects in ((False, _objects(text, first_list)), (True, _repaired(text, first_list))):
        whole: dict[str, Any] = {}
        for found in objects if is_faulty or not is_repaired else ():
            for name, value in (found if validator.is_valid(found) else {first_list: [found]}).items():
                known = whole.get(name)
                whole[name] = [*known, *value] if isinstance(known, list) and isinstance(value, list) else value
        if validator.is_valid(whole):
            wholes.append(_Fitting(whole, 0, is_repaired))
    if not wholes:
        raise _UnfitAnswerError("it holds no whole JSON object that fits")
    # Of a text with faults, the reading counts that has the most objects.
    return max(wholes, key=lambda one: json.dumps(one.value).count("{"))


def _faults(text: str, first_list: str) -> tuple[bool, bool]:
    """Return whether an object of a text cannot be decoded, and whether one of these begins and does not end."""
    at, seen, is_faulty = _begin(text, 0, first_list), 0, False
    unclosed = {pair: text.count(pair[0]) - text.count(pair[1]) for pair in ("{}", "[]")}
    while at >= 0:
        try:
            _, end = _DECODER.raw_decode(text, at)
        except ValueError:
            end, is_faulty = at + 1, True
            for pair in unclosed:
                unclosed[pair] -= text.count(pair[0], seen, at) - text.count(pair[1], seen, at)
            seen = at
            if max(unclosed.values()) > 0:
                return True, True
        at = _begin(text, end, first_list)
    return is_faulty, False


def _first_list(validator: Draft202012Validator) -> str | None:
    """Return the name of the first property if it is a list; a bare list is taken for it."""
    schema: Any = validator.schema
    return next(
        (name if form.get("type") == "array" else None for name, form in schema.get("properties", {}).items()), None
    )


def _objects(text: str, first_list: str | None) -> Iterator[dict[str, Any]]:
    """Yield the outermost JSON objects in `text`, and a list of objects as the one of which it is the first list."""
    at = _begin(text, 0, first_list)
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
            yield found if isinstance(found, dict) else {str(first_list): found}
        at = _begin(text, end, first_list)


def _begin(text: str, at: int, first_list: str | None) -> int:
    """Return the place of the next object, or of the next list of objects; -1 if there is none."""
    brace = text.find("{", at)
    bracket = text.find("[", at, max(brace, at)) if first_list else -1
    return bracket if bracket >= 0 and not text[bracket + 1 : brace].strip() else brace


def _repaired(text: str, first_list: str | None) -> Iterator[dict[str, Any]]:
    """Yield the objects in a text that has small faults, up to its last whole object."""
    if find_spec("json_repair") is None:
        # The extras with language models bring it; a model of one's own may do without.
        return
    from json_repair import repair_json  # noqa: PLC0415 - few answers need it

    begin, end = _begin(text, 0, first_list), text.rfind("}") + 1
    if not 0 <= begin < end <= begin + _LONGEST_REPAIRED:
        return
    end = len(text) if text[begin] == "[" and text[end:].lstrip().startswith("]") else end
    try:
        found = repair_json(text[begin:end], return_objects=True)
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return
    if first_list and text[begin] == "[" and isinstance(found, list):
        yield {first_list: found}
    else:
        yield from (one for one in (found if isinstance(found, list) else [found]) if isinstance(one, dict))


def _without_unknown_keys(found: dict[str, Any], validator: Draft202012Validator) -> tuple[dict[str, Any], int]:
    """Return a copy of an object without the keys that its schema does not know, and their number."""
    pruned, dropped = copy.deepcopy(found), 0
    for error in [one for one in validator.iter_errors(found) if one.validator == "additionalProperties"]:
        place: Any = pruned
        for step in error.absolute_path:
            place = place[step]
        unknown = place.keys() - error.schema.get("properties", {}).keys()
        dropped += len(unknown)
        for name in unknown:
            del place[name]
    return pruned, dropped
