"""Calls as in other libraries of memories: each is refused in a sentence with the right name."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable
from typing import Any, NoReturn, ParamSpec, TypeVar

from neurogated.errors import InputError, NeurogatedError

Class = TypeVar("Class", bound=type)
P = ParamSpec("P")
T = TypeVar("T")

_NAMES = {
    "search": "recall(query, user_id=…)",
    "query": "recall(query, user_id=…)",
    "ask": "recall(query, user_id=…), or answer(memory.recall(query))",
    "chat": "answer(memory.recall(query)), with a language model",
    "get_all": "list(user_id=…)",
    "get_memories": "list(user_id=…)",
    "store_memory": "add(content, user_id=…)",
    "remember": "add(content, user_id=…)",
    "put": "add(content, id=…, user_id=…)",
    "add_memory": "add(content, user_id=…)",
    "delete_all": "delete(user_id=…)",
    "forget": "delete(ids), or delete(user_id=…)",
    "reset": "delete(user_id=…), or MemoryConfig(force_index_from_scratch=True)",
    "clear": "delete(user_id=…), or MemoryConfig(force_index_from_scratch=True)",
    "asearch": "aio.recall(query, user_id=…)",
    "search_memories": "recall(query, user_id=…)",
    "delete_memory": "delete(id)",
    "save": "nothing: a memory is on disk when add returns",
    "persist": "nothing: a memory is on disk when add returns",
}
"""Names of mem0, LangMem and others, with the call of ours."""
_OPENING = "NeuroGraphMemory(MemoryConfig(save_dir=…))"
ELSEWHERE = {
    "Memory": _OPENING,
    "MemoryClient": _OPENING,
    "AsyncMemory": f"{_OPENING}.aio",
    "AsyncMemoryClient": f"{_OPENING}.aio",
    "create_memory_manager": f"{_OPENING}, and its add and recall",
    "create_memory_store_manager": f"{_OPENING}, and its add and recall",
}
"""Names that programs import from other libraries."""
_BUILDERS = ("from_config", "from_file", "load")
_WORDS = {
    "messages": "the text or the messages come first, as in add([{'role': 'user', 'content': '…'}])",
    "data": "the text comes first, and in an update second",
    "memory_id": "the id comes first, without a name",
    "question": "the question comes first",
}
_NUMBER = (("top_n", "limit"), "the number of results is top_n in recall, and limit in list, find and facts.list")
_SESSION = (("session_id",), "a conversation is session_id in add and recall")
_WHERE = ((), "filters are user_id, session_id, tags and where, each an argument of recall, list and delete")
_ARGUMENTS: dict[str, tuple[tuple[str, ...], str]] = {
    **dict.fromkeys(("limit", "top_k", "k", "n_results", "max_results"), _NUMBER),
    **dict.fromkeys(("run_id", "thread_id", "conversation_id"), _SESSION),
    **dict.fromkeys(("filters", "filter"), _WHERE),
    "metadata": (("where",), "your own values are metadata in add and update, and where finds by them"),
    "agent_id": (("agent_id",), "an agent is agent_id in add and recall"),
    "threshold": (("min_score",), "the lowest score is min_score in recall"),
    "data": (("content",), "the text comes first in add, and second in update"),
    "memory_id": ((), "the id comes first, without a name"),
    "document_id": (("id",), "a document's own id is id in add_document"),
    **dict.fromkeys(
        ("max_tokens", "budget", "token_limit"), (("token_budget",), "the budget of get_context is token_budget")
    ),
    "infer": ((), "what a language model infers is a setting of MemoryConfig, such as llm"),
}
"""Arguments of mem0, LangMem and others: ours in order of preference, and a sentence for calls that have none."""
_UNPACKED = re.compile(r"Unpack\[(\w+)\]")
_SIGNS, _LONGEST = ":-", 40
"""What a name begins with in expressions and on the command line; characters of a word that are compared."""


def hint(word: str, known: Collection[str]) -> str:
    """Return what may be meant by a word that is not known; if that is not clear, what is known."""
    return meant(word, known) or f"known are {', '.join(known)}"


def meant(word: str, known: Collection[str]) -> str:
    """Return a sentence with our name for that of another library, or with the nearest known word; "" without one.

    The words may begin with the signs of a door, as in `:top_n` and `--top_n`.
    """
    plain = {one.lstrip(_SIGNS): one for one in known}
    word = word.lstrip(_SIGNS)[:_LONGEST]
    ours, sentence = _ARGUMENTS.get(word, ((), ""))
    near = ours if sentence else difflib.get_close_matches(word, plain, 1)
    right = next((plain[one] for one in near if one in plain), None)
    return sentence if right is None else f"did you mean {right}?"


def refuse_unknown(
    given: Iterable[str],
    known: Collection[str],
    what: str = "argument",
    error: type[NeurogatedError] = InputError,
) -> None:
    """Raise an error that names the arguments that are not known, and those that may be meant."""
    if told := _unknown(given, known, what):
        raise error(told)


def _unknown(given: Iterable[str], known: Collection[str], what: str) -> str:
    unknown = sorted(set(given).difference(known))
    hints = dict.fromkeys(hint(one, known) for one in unknown)
    return f"unknown {what} {', '.join(unknown)}; {'; '.join(hints)}" if unknown else ""


def renamed(depth: int = 3, /, **names: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that takes arguments also by their older names, with a warning: `renamed(old="new")`.

    The warning names the caller `depth` frames up: 3 for a method that explains its calls, 2 for another one.
    """

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
    """Let a class tell how its methods are called when arguments do not fit, and when it is read like a mapping.

    The errors are a TypeError, as without it.
    """
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
    """Let a class also tell the right name when a method of another library is called; see `explains_calls`.

    The error is an AttributeError, as without it.
    """
    explains_calls(cls, "call recall(query), list() or get(id)")
    for name in _BUILDERS:
        setattr(cls, name, _Builder(cls.__name__, name))

    def unknown(self: object, name: str) -> NoReturn:
        hint = f"; call {_NAMES[name]}" if name in _NAMES else ""
        raise AttributeError(f"{type(self).__name__} has no {name!r}{hint}", name=name, obj=self)

    cls.__getattr__ = unknown  # type: ignore[attr-defined]
    return cls


def explains_reading(how: str) -> Callable[[Class], Class]:
    """Return a decorator that lets a result say `how` it is read, if it is read like one of another library.

    The errors are a TypeError for a key that is a text, and an AttributeError for an unknown name, as without it.
    """

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
    """A class method of another library, which this class does not have."""

    def __init__(self, owner: str, name: str) -> None:
        self._told = f"{owner} has no {name!r}; call {_OPENING}"

    def __get__(self, one: object, owner: type | None = None) -> NoReturn:
        raise AttributeError(self._told)


def _explained(method: Callable[..., Any]) -> Callable[..., Any]:
    older: Collection[str] = getattr(method, "older", ())

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - those of any method
        try:
            return method(*args, **kwargs)
        except InputError as error:
            # What refused an argument may know a part of them only.
            _, names = _parameters(method)
            if not names or not (told := _unknown(kwargs.keys() - older, names, "argument")):
                raise
            raise type(error)(told) from None
        except TypeError as error:
            # The call itself failed if no frame of the method is in the traceback.
            if any(frame.f_code.co_filename != __file__ for frame, _ in traceback.walk_tb(error.__traceback__)):
                raise
            raise TypeError(f"{error}; {_how(method, kwargs)}") from None

    return call


def _parameters(method: Callable[..., Any]) -> tuple[list[inspect.Parameter], list[str]]:
    """Return the parameters of a method, and the names of all arguments that it takes.

    `**details: Unpack[Details]` stands for those of `Details`. If a method takes any name, there are none.
    """
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
        raise TypeError(
            "an open memory can be neither copied nor pickled; pass it on as it is, or its config, and open it there: "
            "NeuroGraphMemory(config)"
        )
