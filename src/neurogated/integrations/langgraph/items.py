"""Items as LangGraph has them: how a node becomes one, what a put may hold, and lists of namespaces."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langgraph.store.base import Item, ListNamespacesOp, MatchCondition, PutOp, SearchItem, get_text_at_path

from neurogated.core.clock import from_micros, to_micros
from neurogated.core.model import MemoryNode
from neurogated.errors import InputError
from neurogated.ingestion.items import depth_of, leaves, node_ids, number_of_texts, value_of
from neurogated.text.strings import checked_text, halves_joined

Namespace = tuple[str, ...]
WHOLE = "$"
"""The path of the whole value."""
_LONGEST_KEY = 2**16
_LONGEST_VALUE = 2**26
_MOST_LEVELS = 400
"""Python limits the depth of recursion."""
MICROS_A_MINUTE = 60_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored item. Times are in microseconds since 1970 UTC."""

    id: str
    namespace: Namespace
    key: str
    value: Mapping[str, Any]
    created_at: int
    updated_at: int
    ttl: float | None
    """In minutes; None for an item that never expires."""
    texts: int
    """How many nodes it has."""
    expires_at: int | None
    """When it expires, as no call finds an expired memory; None: never."""

    @classmethod
    def of(cls, node: MemoryNode) -> Entry:
        """Return the item that a node holds."""
        known = node.metadata
        return cls(
            id=node.id,
            namespace=tuple(node.scope.path),
            key=known["key"],
            value=value_of(known),
            created_at=to_micros(node.created_at),
            updated_at=known["updated_at"],
            ttl=known.get("ttl"),
            texts=number_of_texts(known),
            expires_at=None if node.expires_at is None else to_micros(node.expires_at),
        )

    @property
    def node_ids(self) -> list[str]:
        """The ids of its nodes."""
        return node_ids(self.id, 0, self.texts)

    @property
    def updated(self) -> tuple[int, str]:
        """Sorts items, the latest last."""
        return self.updated_at, self.id

    def is_alive(self, now: int) -> bool:
        """Return whether it has not expired."""
        return self.expires_at is None or now < self.expires_at

    def item(self) -> Item:
        """Return the item as LangGraph has it, with a copy of the value."""
        return Item(**self._fields())

    def found(self, score: float | None) -> SearchItem:
        """Return the item as a search returns it."""
        return SearchItem(**self._fields(), score=score)

    def _fields(self) -> dict[str, Any]:
        return {
            "value": json.loads(json.dumps(self.value)),
            "key": self.key,
            "namespace": self.namespace,
            "created_at": from_micros(self.created_at),
            "updated_at": from_micros(self.updated_at),
        }


def checked_key(key: object) -> str:
    """Return a key of an item; raises InputError."""
    if not isinstance(key, str) or "\0" in key or len(key) > _LONGEST_KEY:
        raise InputError(f"the key {key!r} must be a text of at most {_LONGEST_KEY} characters without NUL")
    return checked_text("the key of an item", key)


def checked_value(value: object) -> dict[str, Any]:
    """Return a copy of a value as JSON has it.

    Raises:
        InputError: it is not a mapping of names to JSON values, or too large.
    """
    if not isinstance(value, Mapping):
        raise InputError(f"the value {value!r:.100} of an item must be a mapping such as {{'text': 'tea'}}")
    try:
        written = json.dumps(dict(value), allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the value of an item is not JSON ({error}); use texts, numbers, lists and dicts") from None
    if len(written) > _LONGEST_VALUE:
        raise InputError(f"the value of an item has {len(written)} characters as JSON; {_LONGEST_VALUE} are possible")
    if depth_of(value) > _MOST_LEVELS:
        raise InputError(f"the value of an item nests more than {_MOST_LEVELS} lists and mappings; make it flatter")
    return dict(json.loads(halves_joined(written)))


def checked_ttl(ttl: object) -> float | None:
    """Return a lifetime in minutes; raises InputError."""
    if ttl is not None and (isinstance(ttl, bool) or not isinstance(ttl, int | float) or not 0 <= ttl < float("inf")):
        raise InputError(f"ttl is {ttl!r}, but must be a number of minutes from 0 on")
    return ttl


def checked_fields(index: object) -> Sequence[str] | Literal[False] | None:
    """Return which fields to index; raises InputError."""
    if index is None or index is False:
        return index
    if isinstance(index, str) or not isinstance(index, Sequence) or not all(isinstance(one, str) for one in index):
        raise InputError(f"index is {index!r}, but must be False or a list of paths such as ['text', 'tags[*]']")
    return list(index)


def texts_of(op: PutOp, fields: Sequence[str]) -> list[str]:
    """Return the texts of an item to index, each once. `fields` are the paths unless the operation has its own."""
    chosen = checked_fields(op.index)
    if op.value is None or chosen is False:
        return []
    paths = fields if chosen is None else chosen
    found = [text for path in paths for text in _texts_at(op.value, path)]
    return list(dict.fromkeys(text for text in found if text.strip()))


def _texts_at(value: Mapping[str, Any], path: str) -> list[str]:
    return ["\n".join(leaves(value))] if path == WHOLE else get_text_at_path(dict(value), path)


_ANY = "*"


def listed(namespaces: Sequence[Namespace], op: ListNamespacesOp) -> list[Namespace]:
    """Return the page of the namespaces that fulfil all conditions, each cut to the largest depth."""
    conditions = op.match_conditions or ()
    found = [one for one in namespaces if all(_fulfils(one, condition) for condition in conditions)]
    cut = list(dict.fromkeys(one[: op.max_depth] for one in found))
    return cut[op.offset : op.offset + op.limit]


def checked_conditions(op: ListNamespacesOp) -> None:
    """Refuse an unknown type of a condition; raises InputError."""
    for condition in op.match_conditions or ():
        if condition.match_type not in {"prefix", "suffix"}:
            raise InputError(f"a namespace has a prefix or a suffix, and no {condition.match_type!r}")


def _fulfils(namespace: Namespace, condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in (_ANY, label) for wanted, label in zip(path, part, strict=True))
