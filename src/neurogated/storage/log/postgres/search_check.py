"""Compare the tables of the search with the graph that they should hold."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from functools import reduce
from hashlib import sha256
from operator import xor
from typing import LiteralString

import numpy as np

from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.storage.log.postgres.search import part
from neurogated.storage.log.postgres.search_tables import key_of, owner_of, term_rows
from neurogated.storage.log.postgres.server import Execute

# Hashes of distinct rows, joined by XOR, do not depend on their order.
_HASH: LiteralString = (
    "SELECT coalesce(bit_xor(('x' || left(encode(sha256(convert_to({}, 'UTF8')), 'hex'), 16))::bit(64)::bigint), 0) "
)
_TERMS: LiteralString = _HASH.format("concat_ws(' ', term, owner, node)") + "FROM terms WHERE namespace = %s"
_VECTORS: LiteralString = (
    _HASH.format("concat_ws(' ', owner, node, encode(public.halfvec_send(vector), 'hex'))")
    + "FROM vectors WHERE namespace = %s"
)


def agrees(execute: Execute, namespace: int, nodes: Sequence[MemoryNode], edges: Sequence[MemoryEdge]) -> bool:
    """Return whether the tables hold these nodes, with their keywords and vectors, and these edges, and no others."""
    stored = part(execute, namespace, [key_of(one.id) for one in nodes])
    rows = [(one, owner_of(one.scope.user_id), key_of(one.id)) for one in nodes]
    terms = (f"{term} {owner} {key}" for term, owner, key in term_rows(rows))
    vectors = (f"{owner} {key} {_sent(one.embedding)}" for one, owner, key in rows if one.embedding is not None)
    return (
        {one.id: one for one in stored.nodes} == {one.id: one for one in nodes}
        and {one.key: one for one in stored.edges} == {one.key: one for one in edges}
        and execute(_TERMS, (namespace,)) == [(_hash(terms),)]
        and execute(_VECTORS, (namespace,)) == [(_hash(vectors),)]
    )


def _sent(vector: Iterable[float]) -> str:
    """Return a vector as the server sends it: its length and big-endian numbers of 16 bits."""
    halves = np.asarray(vector, dtype=np.float32).astype(">f2")
    return (struct.pack(">hh", halves.size, 0) + halves.tobytes()).hex()


def _hash(rows: Iterable[str]) -> int:
    return reduce(xor, (int.from_bytes(sha256(row.encode()).digest()[:8], signed=True) for row in rows), 0)
