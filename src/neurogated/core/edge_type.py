"""The open registry of edge types.

It reads like an Enum (`EdgeType.SEQ`, `EdgeType("sequential")`, iteration) but new members can be registered at run
time, which the standard Enum forbids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from neurogated.errors import ConfigError

_MOST_TYPES = 2**15
"""Graph indexes number edge types in 16 bits."""


_ALIASES = {"temporal": "sequential", "semantic": "similarity"}
"""Other words for the values of members."""


class _EdgeTypeRegistry(type):
    """Metaclass that makes `EdgeType` itself the collection of its members."""

    _members: ClassVar[dict[str, EdgeType]] = {}

    def __call__(cls, value: str | EdgeType) -> EdgeType:
        if isinstance(value, EdgeType):
            return value
        try:
            return cls._members[_ALIASES.get(value, value)]
        except KeyError:
            known = ", ".join(cls._members)
            raise ConfigError(f"unknown edge type {value!r}; known are {known}; see EdgeType.register") from None

    def __iter__(cls) -> Iterator[EdgeType]:
        return iter(tuple(cls._members.values()))

    def __len__(cls) -> int:
        return len(cls._members)

    def __getitem__(cls, name: str) -> EdgeType:
        for member in cls:
            if member.name == name:
                return member
        raise ConfigError(f"unknown edge type name {name!r}; known are {', '.join(m.name for m in cls)}")

    @property
    def __members__(cls) -> Mapping[str, EdgeType]:
        """The members by name."""
        return MappingProxyType({member.name: member for member in cls})


class EdgeType(metaclass=_EdgeTypeRegistry):
    """A type of edges; `EdgeType("causal") is EdgeType.CAUSE`.

    Attributes:
        name: upper-case name, also the attribute under which the member is found.
        value: the word for the type in files.
        plastic: whether use strengthens and idleness weakens edges of this type (LTP and LTD).
        both_ways: whether the default activation also walks these edges against their stored direction.
    """

    __slots__ = ("both_ways", "name", "plastic", "value")

    name: str
    value: str
    plastic: bool
    both_ways: bool

    if TYPE_CHECKING:

        def __init__(self, value: str | EdgeType) -> None: ...

    SEQ: ClassVar[EdgeType]
    SIM: ClassVar[EdgeType]
    CAUSE: ClassVar[EdgeType]
    ASSOC: ClassVar[EdgeType]
    MENTION: ClassVar[EdgeType]
    TERM: ClassVar[EdgeType]
    DERIVED_FROM: ClassVar[EdgeType]
    CONFLICT: ClassVar[EdgeType]
    SAME_AS: ClassVar[EdgeType]
    ECHO: ClassVar[EdgeType]

    @classmethod
    def register(cls, name: str, value: str, *, plastic: bool, both_ways: bool) -> EdgeType:
        """Add a member, or return it if it is known with these properties; raises ConfigError."""
        if not (name.isidentifier() and name.isupper() and value):
            raise ConfigError(f"edge type name {name!r} must be an upper-case identifier and value {value!r} not empty")
        if str(value).encode(errors="ignore").decode() != value:
            raise ConfigError(f"edge type value {value!r} must be text without lone surrogates; no file can store it")
        # Files hold these flags as 0 and 1. A type read from a file must equal the registered one.
        plastic, both_ways = bool(plastic), bool(both_ways)
        for member in cls:
            if name == member.name or _ALIASES.get(value, value) == member.value:
                if (member.name, member.value, member.plastic, member.both_ways) == (name, value, plastic, both_ways):
                    return member
                raise ConfigError(f"edge type {name} = {value!r} clashes with registered {member!r}")
        if hasattr(cls, name):
            raise ConfigError(f"edge type name {name!r} is an attribute of EdgeType already; choose another")
        if len(cls) >= _MOST_TYPES:
            raise ConfigError(f"{name} would be edge type number {len(cls) + 1}; {_MOST_TYPES} are possible")
        member = object.__new__(cls)
        member.name, member.value, member.plastic, member.both_ways = name, value, plastic, both_ways
        cls._members[value] = member
        setattr(cls, name, member)
        return member

    def __str__(self) -> str:
        return f"EdgeType.{self.name}"

    def __repr__(self) -> str:
        return f"<EdgeType.{self.name}: {self.value!r}>"

    def __reduce__(self) -> tuple[type[EdgeType], tuple[str]]:
        return EdgeType, (self.value,)


EdgeType.register("SEQ", "sequential", plastic=True, both_ways=True)
EdgeType.register("SIM", "similarity", plastic=False, both_ways=True)
EdgeType.register("CAUSE", "causal", plastic=True, both_ways=False)
EdgeType.register("ASSOC", "associative", plastic=True, both_ways=True)
EdgeType.register("MENTION", "mention", plastic=False, both_ways=True)
EdgeType.register("TERM", "term", plastic=False, both_ways=True)
EdgeType.register("DERIVED_FROM", "derived_from", plastic=False, both_ways=False)
EdgeType.register("CONFLICT", "conflict", plastic=False, both_ways=False)
EdgeType.register("SAME_AS", "same_as", plastic=False, both_ways=False)
EdgeType.register("ECHO", "echo", plastic=False, both_ways=False)

BUILT_IN_TYPES = frozenset(EdgeType)
"""The types that every process knows."""
