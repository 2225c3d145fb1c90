"""Calls as in other libraries of memories: each is refused in a sentence with the right name."""

import difflib
import functools
import inspect
import json
import re
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, TypeVar

from neurogated.errors import InputError, NeurogatedError

Class = TypeVar("Class", bound=type)
P = ParamSpec("P")
T = TypeVar("T")

_TABLES = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
_NAMES: dict[str, str] = _TABLES["methods"]
"""Names of mem0, LangMem and others, with the call of ours."""
ELSEWHERE: dict[str, str] = _TABLES["classes"]
"""Names that programs import from other libraries."""
_WORDS: dict[str, str] = _TABLES["first"]
_ARGUMENTS = {name: (ours, told) for names, ours, told in _TABLES["arguments"] for name in names}
"""Arguments of mem0, LangMem and others: ours in order of preference, and a sentence for calls that have none."""
_UNPACKED = re.compile(r"Unpack\[(\w+)\]")
_SIGNS, _LONGEST = ":-", 40
"""What a name begins with in expressions and on the command line; characters of a word that are compared."""


def hint(word: str, known: Collection[str]) -> str:
    """Return what may be meant by a word that is not known; if that is not clear, what is known."""
    return meant(word, known) or f"known are {', '.join(known)}"


def meant(word: str, known: Collection[str]) -> str:
    """Return a sentence with the right or the nearest name for one such as `:top_n` or `--top_n`; "" without one."""
    plain = {one.lstrip(_SIGNS): one for one in known}
    word = word.lstrip(_SIGNS)[:_LONGEST]
    ours, sentence = _ARGUMENTS.get(word, ((), ""))
    near = ours if sentence else difflib.get_close_matches(word, plain, 1)
    right = next((plain[one] for one in near if one in plain), None)
    return sentence if right is None else f"did you mean {right}?"


def refuse_unknown(
    given: Iterable[str], known: Collection[str], what: str = "argument", error: type[NeurogatedError] = InputError
) -> None:
    """Raise an error that names the arguments that are not known, and those that may be meant."""
    if told := _unknown(given, known, what):
        raise error(told)


def _unknown(given: Iterable[str], known: Collection[str], what: str) -> str:
    unknown = sorted(set(given).difference(known))
    hints = dict.fromkeys(hint(one, known) for one in unknown)
    return f"unknown {what} {', '.join(unknown)}; {'; '.join(hints)}" if unknown else ""


def renamed(depth: int = 3, /, **names: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that takes arguments also by their older names, and warns the caller `depth` frames up."""

    def accept(method: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(method)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            for old in names.keys() & kwargs.keys():
                told = f"{method.__name__}({old}=…) is now {names[old]}=…; the next version refuses the old name"
                warnings.warn(told, DeprecationWarning, stacklevel=depth)
                kwargs[names[old]] = kwargs.pop(old)
            return method(*args, **kwargs)

        call.__dict__["older"] = frozenset(names)
        return call

    return accept


def explains_calls(cls: type, how: str = "") -> None:
    """Let the TypeErrors of a class tell how its methods are called, also when it is read like a mapping."""
    calls = {name: one for name, one in vars(cls).items() if inspect.isfunction(one) and not name.startswith("_")}
    how = how or f"its calls are {', '.join(calls)}"
    for name, method in calls.items():
        # A coroutine calls the method of the memory, which explains itself.
        if not inspect.iscoroutinefunction(method):
            setattr(cls, name, _explained(method))

    def get(_: object, key: object) -> NoReturn:
        raise TypeError(f"{cls.__name__} has no key {key!r}; {how}")

    for name, value in {"__getitem__": get, "__iter__": None}.items():
        setattr(cls, name, value)


def explains_habits(cls: Class) -> Class:
    """Let a class also tell the right name for a method of another library; as without it, it is an AttributeError."""
    explains_calls(cls, "call recall(query), list() or get(id)")
    for name in ("from_config", "from_file", "load"):
        setattr(cls, name, _Builder(cls.__name__, name))

    def unknown(self: object, name: str) -> NoReturn:
        hint = f"; call {_NAMES[name]}" if name in _NAMES else ""
        raise AttributeError(f"{type(self).__name__} has no {name!r}{hint}", name=name, obj=self)

    cls.__getattr__ = unknown  # type: ignore[attr-defined]
    return cls


def explains_reading(how: str) -> Callable[[Class], Class]:
    """Return a decorator whose classes say `how` they are read, in the TypeErrors and AttributeErrors of other ways."""

    def explained(cls: Class) -> Class:
        own = getattr(cls, "__getitem__", None)

        def get(self: Any, key: Any) -> Any:  # noqa: ANN401 - the keys of any sequence
            if own is None or isinstance(key, str | None):
                raise TypeError(f"{cls.__name__} has no key {key!r}; {how}")
            return own(self, key)

        def unknown(self: object, name: str) -> NoReturn:
            hint = "" if name.startswith("_") else f"; {how}"
            raise AttributeError(f"{cls.__name__} has no {name!r}{hint}", name=name, obj=self)

        # With `__getitem__` alone, Python would begin to iterate.
        no_iteration = {} if own else {"__iter__": None}
        for name, method in {"__getitem__": get, "__getattr__": unknown, **no_iteration}.items():
            setattr(cls, name, method)
        return cls

    return explained


class _Builder:
    def __init__(self, owner: str, name: str) -> None:
        self._told = f"{owner} has no {name!r}; call {ELSEWHERE['Memory']}"

    def __get__(self, one: object, owner: type | None = None) -> NoReturn:
        raise AttributeError(self._told)


def _explained(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - those of any method
        try:
            return method(*args, **kwargs)
        except InputError as error:
            # What refused an argument may know a part of them only.
            _, names = _parameters(method)
            if not names or not (told := _unknown(kwargs.keys() - getattr(method, "older", ()), names, "argument")):
                raise
            raise type(error)(told) from None
        except TypeError as error:
            # The call itself failed if no frame of the method is in the traceback.
            if any(frame.f_code.co_filename != __file__ for frame, _ in traceback.walk_tb(error.__traceback__)):
                raise
            raise TypeError(f"{error}; {_how(method, kwargs)}") from None

    return call


def _parameters(method: Callable[..., Any]) -> tuple[list[inspect.Parameter], list[str]]:
    """Return the parameters of a method, and the names of its arguments; no names if it takes arguments of any name."""
    parameters, names = list(inspect.signature(method).parameters.values())[1:], list[str]()
    for one in parameters:
        if kind := _UNPACKED.fullmatch(str(one.annotation)):
            names += inspect.unwrap(method).__globals__[kind[1]].__annotations__
        elif one.kind is one.VAR_KEYWORD:
            return parameters, []
        else:
            names.append(one.name)
    return parameters, names


def _how(method: Callable[..., Any], given: Iterable[str]) -> str:
    shown, (parameters, names) = list[str](), _parameters(method)
    for one in parameters:
        is_rest = one.kind is one.VAR_KEYWORD
        shown += ["*"] if (one.kind is one.KEYWORD_ONLY or is_rest) and "*" not in shown else []
        shown += ["user_id=…"] if is_rest and "user_id" in names else []
        shown.append(f"**{one.name}" if is_rest else one.name if one.default is one.empty else f"{one.name}=…")
    hints = [_WORDS[name] for name in given if name in _WORDS]
    hints += filter(None, (meant(name, names) for name in given if name not in names))
    return "; ".join((f"write {method.__name__}({', '.join(shown)})", *hints))


class Uncopied:
    """An object that belongs to an open memory, so that it can be neither copied nor pickled."""

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse deep copies and pickles of an open memory, and of what holds one, in words."""
        raise TypeError("an open memory can be neither copied nor pickled; pass its config: NeuroGraphMemory(config)")
