"""Values that do not change after they were made."""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from itertools import repeat
from typing import NoReturn, TypeVar

K = TypeVar("K")
V = TypeVar("V")


def filled(cls: type[V], fields: Mapping[str, object]) -> V:
    """Return a frozen value with all its fields, which must be valid; its checks would cost more than reading it."""
    made = object.__new__(cls)
    deque(map(object.__setattr__, repeat(made), fields, fields.values()), maxlen=0)
    return made


def filled_all(cls: type[V], columns: Mapping[str, Collection[object]]) -> list[V]:
    """Return frozen values of a class with slots from columns of their fields, which must be valid and of one size."""
    made = list(map(object.__new__, repeat(cls, min(map(len, columns.values())))))
    for name, values in columns.items():
        # The slot itself: `object.__setattr__` would look it up for each value.
        deque(map(getattr(cls, name).__set__, made, values), maxlen=0)
    return made


class ReadOnlyDict(dict[K, V]):
    """A dictionary without the methods that change one; it can be pickled and copied, unlike a `MappingProxyType`."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("these values are read-only; change a copy, such as dict(values)")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (dict(self),)


class Deferred(Mapping[K, V]):
    """A mapping that is computed when it is first read."""

    def __init__(self, compute: Callable[[], Mapping[K, V]]) -> None:
        self._compute = compute

    @cached_property
    def _values(self) -> ReadOnlyDict[K, V]:
        return ReadOnlyDict(self._compute())

    def __getitem__(self, key: K) -> V:
        return self._values[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)

    def __reduce__(self) -> tuple[object, ...]:
        return ReadOnlyDict, (dict(self),)
