"""A dictionary that does not change after it was made."""

from __future__ import annotations

from typing import NoReturn, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class ReadOnlyDict(dict[K, V]):
    """A dictionary without the methods that change one.

    Unlike a `MappingProxyType`, it can be pickled, copied deeply and passed to `dataclasses.asdict`.
    """

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("these values are read-only; change a copy, such as dict(values)")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (dict(self),)
