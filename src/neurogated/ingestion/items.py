"""Items of a store as nodes of a graph: one node for an item, and one for each further text of it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from neurogated.core.clock import to_utc
from neurogated.core.model import MemoryNode, Vector, as_vector
from neurogated.core.node_kind import ITEM
from neurogated.core.scope import Scope
from neurogated.errors import InputError
from neurogated.utils.hash_utils import compute_mdhash_id

_PART = "#"
"""As in the ids of the chunks of a text, so that deleting an item as a memory deletes its other texts."""
_DEEPEST = 90
"""Metadata nest at most 100 lists and mappings."""
_ITEM = MemoryNode("item", "", kind=ITEM)
"""What the nodes of all items have."""


def id_of(namespace: Sequence[str], key: str) -> str:
    """Return the id of the node of an item."""
    return compute_mdhash_id(json.dumps([*namespace, key]), "item-")


def item_id(node_id: str) -> str:
    """Return the id of the item that has a node."""
    return node_id.partition(_PART)[0]


def node_ids(name: str, begin: int, end: int) -> list[str]:
    """Return the ids of some nodes of an item; the first one has the id of the item."""
    return [f"{name}{_PART}{place}" if place else name for place in range(begin, end)]


def item_nodes(
    name: str,
    texts: Sequence[str],
    vectors: Mapping[str, Vector],
    metadata: Mapping[str, Any],
    *,
    scope: Scope,
    created_at: datetime,
    last_accessed: datetime,
    expires_at: datetime | None,
) -> list[MemoryNode]:
    """Return the nodes of an item, one for each text; the first one has the metadata.

    What they hold is valid, since it is checked as JSON before.

    Args:
        name: the id of the item.
        texts: to find it by; none for an item that only its key finds.
        vectors: of the texts; a vector without a direction counts as none.
        metadata: see `item_metadata`; the number of texts is added.
        scope: of all nodes.
        created_at: of all nodes.
        last_accessed: of all nodes, whose energy decays from then on.
        expires_at: of all nodes.
    """
    held = {**metadata, "texts": len(texts)} if len(texts) > 1 else metadata
    created, accessed = to_utc(created_at), to_utc(last_accessed)
    times = {"created_at": created, "charged_at": created, "last_accessed": accessed, "energy_at": accessed}
    about = {**times, "scope": scope, "expires_at": expires_at and to_utc(expires_at)}
    found = {text: unit for text in texts if np.logical_or.reduce(unit := as_vector(vectors[text]))}
    return [
        _ITEM.changed(id=one, content=text, embedding=found.get(text), metadata={} if place else held, **about)
        for place, (one, text) in enumerate(zip(node_ids(name, 0, max(1, len(texts))), texts or [""], strict=True))
    ]


def item_metadata(key: str, value: Mapping[str, Any], updated_at: int = 0, ttl: float | None = None) -> dict[str, Any]:
    """Return the metadata of an item: time in microseconds, lifetime in minutes; a value too deep for them as text."""
    deep = depth_of(value) >= _DEEPEST
    lifetime = {} if ttl is None else {"ttl": ttl}
    return {"key": key, "value": json.dumps(value) if deep else value, "updated_at": updated_at, **lifetime}


def value_of(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the value in the metadata of an item."""
    value: Mapping[str, Any] | str = metadata["value"]
    return dict(json.loads(value)) if isinstance(value, str) else value


def number_of_texts(metadata: Mapping[str, Any]) -> int:
    """Return how many nodes an item has."""
    return int(metadata.get("texts", 1))


def leaves(value: object) -> Iterator[str]:
    """Yield the texts and numbers in a value without its keys, which would match each question about them."""
    if type(value) is not str and isinstance(value, dict | list | tuple | Mapping):
        for inner in value.values() if isinstance(value, dict | Mapping) else value:
            yield from leaves(inner)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def depth_of(value: object) -> int:
    """Return how deep lists and mappings are nested; raises InputError for a key that is no text."""
    depth, level = 0, [value]
    while level := [one for one in level if type(one) is not str and isinstance(one, dict | list | tuple | Mapping)]:
        depth += 1
        mappings = [one for one in level if isinstance(one, dict | Mapping)]
        if wrong := [key for one in mappings for key in one if not isinstance(key, str)]:
            raise InputError(f"the value of an item has the key {wrong[0]!r}, but keys must be texts")
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict | Mapping) else one)]
    return depth
