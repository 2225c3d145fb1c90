"""After a call has failed, find the argument that had a wrong type."""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable, Collection, Mapping
from inspect import Parameter, signature
from numbers import Integral, Real
from types import FunctionType, UnionType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from neurogated.errors import InputError, NeurogatedError

__all__ = ["names_arguments"]

P = ParamSpec("P")
T = TypeVar("T")

# The errors that Python and numpy raise for a value of a wrong type.
_RAISED = (TypeError, ValueError, AttributeError, LookupError, OverflowError)
_SHOWN = 60
# Python prints integers of up to 4300 digits.
_PRINTABLE_BITS = 14_000


def names_arguments(cls: type[T]) -> type[T]:
    """Let the public methods of a class raise InputError if an argument is unknown or does not fit its annotation.

    Arguments are checked only after a call has failed, so a call that succeeds costs no more. An error of this library
    is replaced only if an argument is unknown, by one that names all arguments.
    """
    for name, method in vars(cls).copy().items():
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(cls, name, _naming(method))
    return cls


def _naming(method: Callable[P, T]) -> Callable[P, T]:
    @functools.wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(*args, **kwargs)
        except _RAISED as error:
            _refuse_unknown(method, kwargs, error)
            if isinstance(error, NeurogatedError):
                raise
            for name, value, hint in _given(method, args, kwargs):
                if not _fits(value, hint):
                    raise InputError(f"{name} is {_shown(value)}, but must be {_described(hint)}") from error
            raise

    return call


def _refuse_unknown(method: Callable[..., object], kwargs: Mapping[str, object], cause: Exception) -> None:
    """Raise InputError with all known arguments if one is unknown; Python itself refuses it if there are no `**`."""
    *named, last = signature(method).parameters.values()
    if last.kind is not Parameter.VAR_KEYWORD:
        return
    (fields,) = typing.get_args(typing.get_type_hints(method)[last.name])
    known = [*(one.name for one in named[1:]), *typing.get_type_hints(fields)]
    if unknown := [name for name in kwargs if name not in known]:
        raise InputError(f"unknown argument {', '.join(unknown)}; known are {', '.join(known)}") from cause


def _given(method: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object]) -> Any:  # noqa: ANN401
    """Yield name, value and annotation of the arguments of a call; raises TypeError for an unknown parameter."""
    hints, parameters = typing.get_type_hints(method), signature(method).parameters
    for name, value in signature(method).bind(*args, **kwargs).arguments.items():
        if name not in hints:
            continue
        if parameters[name].kind is Parameter.VAR_KEYWORD:
            (fields,) = typing.get_args(hints[name])
            known = typing.get_type_hints(fields)
            yield from ((field, one, known[field]) for field, one in value.items() if field in known)
        else:
            yield name, value, hints[name]


def _fits(value: object, hint: Any) -> bool:  # noqa: ANN401, PLR0911 - any annotation, a line for each kind
    origin, parts = _opened(hint)
    if hint is typing.Any:
        return not isinstance(value, int) or value.bit_length() <= _PRINTABLE_BITS
    if hint is None or hint is type(None):
        return value is None
    if origin is typing.Union or origin is UnionType:
        return any(_fits(value, one) for one in parts)
    if origin is typing.Literal:
        return any(type(value) is type(one) and value == one for one in parts)
    if hint in (int, float):
        number = isinstance(value, Integral if hint is int else Real) and not isinstance(value, bool)
        # False for NaN, too.
        return number and bool(abs(value) <= np.iinfo(np.int64).max)  # type: ignore[arg-type]
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and np.issubdtype(value.dtype, typing.get_args(parts[1])[0])
    if isinstance(origin, type) and issubclass(origin, Collection | typing.Iterable):
        return _holds(value, origin, parts)
    if typing.is_typeddict(hint):
        return isinstance(value, Mapping)
    kind = origin or hint
    if getattr(kind, "_is_protocol", False) and not getattr(kind, "_is_runtime_protocol", False):
        return type(value).__module__ not in ("builtins", "numpy", "datetime")
    return not isinstance(kind, type) or isinstance(value, kind)


def _opened(hint: Any) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401 - any annotation
    """Return the origin and the parts of an annotation, or of its alias: NDArray is one since numpy 2.5."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    return _opened(origin.__value__[parts]) if hasattr(origin, "__value__") else (origin, parts)


def _holds(value: object, kind: type, parts: tuple[Any, ...]) -> bool:
    """Return whether a value is a collection of that kind and its items fit. A string is not a collection here."""
    if isinstance(value, str | bytes) or not isinstance(value, kind):
        return False
    if isinstance(value, Mapping):
        return all(_fits(one, parts[0]) for one in value) and all(_fits(one, parts[1]) for one in value.values())
    return not isinstance(value, Collection) or all(_fits(one, parts[0]) for one in value)


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return "a number with too many digits"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _described(hint: Any) -> str:  # noqa: ANN401 - any annotation
    return hint.__name__ if type(hint) is type else str(hint).replace("typing.", "").replace("collections.abc.", "")
