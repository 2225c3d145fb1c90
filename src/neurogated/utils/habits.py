"""Calls as in other libraries of memories: each is refused in a sentence with the right name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

Class = TypeVar("Class", bound=type)

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
}
"""Names of mem0, LangMem and others, with the call of ours."""
_WORDS = {
    "messages": "the text or the messages come first, as in add([{'role': 'user', 'content': '…'}])",
    "data": "the text comes first, and in an update second",
    "memory_id": "the id comes first, without a name",
    "question": "the question comes first",
}


def explains_habits(cls: Class) -> Class:
    """Let a class tell the right name when a method of another library is called, or arguments do not fit.

    The errors are an AttributeError and a TypeError, as without it.
    """
    for name, method in list(vars(cls).items()):
        # A coroutine calls the method of the memory, which explains itself.
        if inspect.isfunction(method) and not name.startswith("_") and not inspect.iscoroutinefunction(method):
            setattr(cls, name, _explained(method))

    def unknown(self: object, name: str) -> NoReturn:
        hint = f"; call {_NAMES[name]}" if name in _NAMES else ""
        raise AttributeError(f"{type(self).__name__} has no {name!r}{hint}", name=name, obj=self)

    cls.__getattr__ = unknown  # type: ignore[attr-defined]
    return cls


def _explained(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - those of any method
        try:
            return method(*args, **kwargs)
        except TypeError as error:
            # The call itself failed if no frame of the method is in the traceback.
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            raise TypeError(f"{error}; {_how(method, kwargs)}") from None

    return call


def _how(method: Callable[..., Any], given: dict[str, Any]) -> str:
    shown = []
    for one in list(inspect.signature(method).parameters.values())[1:]:
        if one.kind is one.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        star = "**" if one.kind is one.VAR_KEYWORD else ""
        shown.append(f"{star}{one.name}" + ("" if one.default is one.empty else "=…"))
    hints = [_WORDS[name] for name in given if name in _WORDS]
    return "; ".join((f"write {method.__name__}({', '.join(shown)})", *hints))
