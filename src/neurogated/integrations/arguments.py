"""The types of arguments in JSON, with bounds: a body that is too large is refused in few words, and at once."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import chain, groupby, islice
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from neurogated.core.habits import hint
from neurogated.operations import REQUIRED, Argument, Operation, renamings

MOST_ITEMS, _MOST_VALUES, _DEEPEST, _MOST_TOLD = 1_000, 5_000, 100, 10
"""Items of a list, values in the metadata of a memory, levels of these, and unknown fields that an error names."""
LONGEST_QUESTION = 10_000
"""Characters of a question or a task."""
_WISHES = {"string": "a text", "int": "a whole number", "float": "a number", "bool": "true or false", "list": "a list",
    "dict": "an object", "datetime": "a time, such as 2026-11-29T08:30:00Z"}  # fmt: skip
"""What pydantic misses, by the beginning of the type of its error."""


def _few_items(given: object) -> object:
    if isinstance(given, dict) and len(given) > MOST_ITEMS:
        raise PydanticCustomError("too_long", f"has more than {MOST_ITEMS:,} entries")
    return given


def _few_values(given: object) -> object:
    """Return metadata as they are, if they have few values; otherwise they would be read while all others wait."""
    level, count = list[object]([given]), 0
    for _ in range(_DEEPEST):
        groups = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level = list(chain.from_iterable(groups))
        count += len(level)
        if not level:
            return given
        if count > _MOST_VALUES:
            break
    raise PydanticCustomError("too_long", f"has more than {_MOST_VALUES:,} values, or more than {_DEEPEST} levels")


class Body(BaseModel):
    """An object in a request. A field that it does not know is an error."""

    model_config = ConfigDict(extra="forbid")
    described: ClassVar[Sequence[Argument]] = ()
    """The fields, if they are arguments of an operation."""

    @model_validator(mode="wrap")
    @classmethod
    def _known(cls, given: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(given, dict):
            return handler(given)
        olds = renamings(given, cls.described)
        unknown = [name for name in given if name not in cls.model_fields and name not in olds]
        if len(unknown) > _MOST_TOLD:
            told = f"has {len(unknown):,} unknown fields; known are {', '.join(cls.model_fields)}"
            raise PydanticCustomError("too_long", told)
        if unknown:
            hints = {name: f"; {hint(name, cls.model_fields)}" for name in unknown}
            # Without an owner, the words of a user would become everybody's.
            hints |= {"user_id": " and belongs in the address, as in ?user_id=ana"}
            named = (f"{name[:40]!r} is not known here{hints[name]}" for name in unknown)
            raise PydanticCustomError("unknown", "; ".join(named))
        return handler({olds.get(name, name): value for name, value in given.items()})


def _no_truth(given: object) -> object:
    if isinstance(given, bool):  # pydantic alone takes true for 1
        raise PydanticCustomError("number", "must be a number, not a truth value")
    return given


Text = Annotated[str, Field(min_length=1)]
_NO_TRUTH = BeforeValidator(_no_truth)  # after bounds, which the schema would name wrongly
Items = Field(max_length=MOST_ITEMS, fail_fast=True)
Texts = Annotated[list[str], Items]
Share = Annotated[float, Field(ge=0, le=1), _NO_TRUTH]

_SAID = {"type": "string", "minLength": 1}
_MESSAGE = {
    "type": "object",
    "description": "A message as OpenAI, Anthropic, Gemini, LangChain and others write it.",
    "properties": {
        "role": {"type": "string", "description": "`user`, `assistant`, `system` or `tool`, or a word for one of them"},
        "content": {"description": "a text, or parts such as texts, calls of tools and images"},
        "name": {"type": "string", "description": "the speaker"},
        "timestamp": {"type": "string", "description": "when it was said"},
        "metadata": {"type": "object"},
    },
    "additionalProperties": True,
}
_MESSAGES = {"type": "array", "items": {"anyOf": [_SAID, _MESSAGE]}, "maxItems": MOST_ITEMS}
_PLAIN = {"content", "name", "timestamp", "metadata"}


def _few_messages(given: object) -> object:
    """Return texts and messages for `memory.add`, which reads them. A text with a name or a time is of the user."""
    if isinstance(given, list):
        if len(given) > MOST_ITEMS:
            raise PydanticCustomError("too_long", f"should have at most {MOST_ITEMS} items, not {len(given)}")
        return list(map(_message, given))
    if isinstance(given, str | dict):
        return _message(given)
    raise PydanticCustomError("content", "must be a text, a message, or a list of them")


def _message(given: object) -> object:
    _few_values(given)
    return {"role": "user", **given} if isinstance(given, dict) and given.keys() <= _PLAIN else given


_TYPES: Mapping[str, Any] = {
    "action": Literal["update", "forget", "resolve"],
    "content": Annotated[Any, BeforeValidator(_few_messages), WithJsonSchema({"anyOf": [_SAID, _MESSAGE, _MESSAGES]})],
    "count": Annotated[int, Field(ge=1, le=1000), _NO_TRUTH],
    "duration": Annotated[float, Field(gt=0), _NO_TRUTH],
    "few": Annotated[int, Field(ge=1, le=100), _NO_TRUTH],
    "flag": bool,
    "helped": Literal["success", "fail"],
    "ids": Annotated[list[str], Items, Field(min_length=1)],
    "metadata": Annotated[dict[str, Any], BeforeValidator(_few_values)],
    "number": Annotated[float, _NO_TRUTH],
    "offset": Annotated[int, Field(ge=0, lt=2**31), _NO_TRUTH],
    "outcome": Literal["success", "fail"] | Annotated[float, Field(ge=-1, le=1), _NO_TRUTH],
    "path": Texts,
    "question": Annotated[str, Field(max_length=LONGEST_QUESTION)],
    "room": Annotated[int, Field(ge=1, le=2000), _NO_TRUTH],
    "status": Literal["open", "resolved", "all"],
    "text": Text,
    "texts": Texts,
    "time": datetime,
    "tokens": Annotated[int, Field(ge=1, le=100_000), _NO_TRUTH],
    "share": Share,
    "unit": Share,
    "value": Text | bool | int | float,
    "version": Annotated[int, Field(ge=0), _NO_TRUTH],
    "words": Annotated[dict[str, str], BeforeValidator(_few_items)],
}
"""By the words of the table of operations; all others are texts."""


def annotation(one: Argument, described: Callable[..., Any] = Field) -> Any:  # noqa: ANN401 - a type
    """Return the type of an argument with its description, which `described` makes."""
    kind = _TYPES.get(one.type, str)
    return Annotated[kind if one.default is not None else kind | None, described(description=one.help or None)]


def body_of(operation: Operation) -> type[Body]:
    """Return the model of the bodies of a route."""
    arguments = operation.doors[operation.route]
    fields: Any = {one.name: (annotation(one), ... if one.default is REQUIRED else one.default) for one in arguments}
    made = create_model(f"{operation.name.title()}Request", __base__=Body, __doc__=operation.summary, **fields)
    made.described = arguments
    return made


def advice(errors: Sequence[Mapping[str, Any]], depth: int = 0) -> str:
    """Return what to do about errors of pydantic, on one line.

    Of a value that may have several types, the best try counts.

    Args:
        errors: at most ten fields are told.
        depth: the parts of each place that come before the name of the argument.
    """
    told = list[str]()
    groups = groupby(errors, lambda one: str(one["loc"][depth]))
    for name, tries in islice(((name, list(group)) for name, group in groups), _MOST_TOLD):
        longest = max(len(one["loc"]) for one in tries)
        best = [one for one in tries if len(one["loc"]) == longest]
        missing = dict.fromkeys(f"{str(one['loc'][-1])!r} is missing" for one in best if one["type"] == "missing")
        place = f"item {item + 1} of {name!r}" if isinstance(item := best[0]["loc"][-1], int) else repr(name)
        told += missing or [f"{place} {', or '.join(dict.fromkeys(map(_wish, best)))}"]
    return "; ".join(told)


def _wish(error: Mapping[str, Any]) -> str:
    kind, _, fault = error["type"].partition("_")
    if kind in _WISHES and fault in {"type", "parsing", "from_float", "from_date_parsing"}:
        return f"must be {_WISHES[kind]}"
    return re.sub(r"^(?:\w+ )?should\b", "must", error["msg"]).replace(" after validation", "")
