"""A delta as bytes, as the logs of databases store it.

The bytes are a header, the delta as JSON values (`delta_json`) compressed by zlib, and the embeddings as raw float32.
The header holds the CRC-32 of all bytes after the checksum itself, the version, and the length of the compressed part.
All numbers are little-endian. Every version keeps the checksum and its own number at the same place.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from neurogated.core.delta import GraphDelta
from neurogated.core.delta_json import delta_from_json, delta_to_json, line_of
from neurogated.core.edge_type import BUILT_IN_TYPES, EdgeType
from neurogated.core.model import MemoryNode
from neurogated.errors import ConfigError, CorruptMemoryError, FormatVersionError

_VERSION = 1
_CHECKSUM = struct.Struct("<I")
_HEADER = struct.Struct("<BI")
_BODY = _CHECKSUM.size + _HEADER.size
_FLOAT = "<f4"
_LEVEL = 1  # higher levels take longer and save little: most texts are short


def encode(delta: GraphDelta) -> bytes:
    """Return a delta as bytes, without its owner, which is not stored."""
    vectors: list[bytes] = []

    def store_vector(node: MemoryNode) -> int | None:
        if node.embedding is None:
            return None
        vectors.append(np.asarray(node.embedding, dtype=_FLOAT).tobytes())
        return len(node.embedding)

    values = delta_to_json(delta, store_vector)
    if types := set(_types_in(delta)) - BUILT_IN_TYPES:
        values["types"] = sorted([one.name, one.value, one.plastic, one.both_ways] for one in types)
    packed = zlib.compress(line_of(values), _LEVEL)
    rest = b"".join((_HEADER.pack(_VERSION, len(packed)), packed, *vectors))
    return _CHECKSUM.pack(zlib.crc32(rest)) + rest


def decode(stored: bytes) -> GraphDelta:
    """Return the delta that `encode` stored; unknown edge types and node kinds are registered.

    Raises:
        CorruptMemoryError: the bytes are damaged.
        FormatVersionError: a newer version of this library wrote them.
        ConfigError: this process has registered another edge type under a name in the delta.
    """
    if len(stored) < _BODY or _CHECKSUM.unpack_from(stored) != (zlib.crc32(stored[_CHECKSUM.size :]),):
        raise CorruptMemoryError(f"a change of {len(stored)} bytes is damaged; restore the memory from a backup")
    version, length = _HEADER.unpack_from(stored, _CHECKSUM.size)
    if version != _VERSION:
        raise FormatVersionError(f"a change has format {version}, but this version of neurogated reads {_VERSION}")
    try:
        values = json.loads(zlib.decompress(stored[_BODY : _BODY + length]))
        vectors = _Vectors(np.frombuffer(stored, _FLOAT, offset=_BODY + length))
        for name, value, plastic, both_ways in values.pop("types", ()):
            EdgeType.register(name, value, plastic=plastic, both_ways=both_ways)
        delta = delta_from_json(values, vectors.take)
        vectors.finish()
    except ConfigError:
        raise
    except (zlib.error, KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise CorruptMemoryError(f"a change cannot be read ({error}); restore the memory from a backup") from error
    return delta


class _Vectors:
    """Embeddings that lie one after another."""

    def __init__(self, values: NDArray[np.float32]) -> None:
        self._values = values
        self._at = 0

    def take(self, dimension: int) -> NDArray[np.float32]:
        """Return the next embedding."""
        self._at += dimension
        if self._at > self._values.size:
            raise ValueError("embeddings are missing")
        return self._values[self._at - dimension : self._at]

    def finish(self) -> None:
        """Check that every embedding was taken."""
        if self._at != self._values.size:
            raise ValueError("there are more embeddings than nodes")


def _types_in(delta: GraphDelta) -> Iterator[EdgeType]:
    """Yield the type of every edge that a delta names."""
    put = (edge.key for edge in delta.edges)
    weighed = (change.edge for change in delta.weights)
    spared = chain.from_iterable(operator.spared for operator in delta.operators)
    for key in chain(delta.removed_edges, put, weighed, spared, delta.touch.edges):
        yield key.type
