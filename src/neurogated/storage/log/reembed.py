"""Replace the vectors in all deltas of a log after a change of the embedder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from neurogated.core.abilities import EmbeddedVersion, VersionKey
from neurogated.core.delta import GraphDelta, JournalEntry
from neurogated.core.model import Vector, as_vector
from neurogated.errors import InputError
from neurogated.storage.log.log import Log, SupportsClaiming, SupportsRewriting

_MOST_NODES = 1 << 24
"""A delta has fewer nodes."""


class RewritableLog(Log, SupportsRewriting, Protocol):
    """A log whose deltas can be replaced."""


def embedded_versions(namespace: int, log: Log) -> Iterator[EmbeddedVersion]:
    """Yield every version of a node with a vector; the versions of one node are consecutive.

    Args:
        namespace: a number for the graph, which becomes a part of each key.
        log: its log.
    """
    versions: dict[str, list[EmbeddedVersion]] = defaultdict(list)
    for entry in log.entries():
        for place, node in enumerate(entry.delta.nodes):
            if node.embedding is not None:
                key = _key(namespace, entry, place)
                versions[node.id].append(EmbeddedVersion(key, node.content, node.title, node.speaker, node.found))
    for found in versions.values():
        yield from found


def replace_vectors(
    logs: Iterable[tuple[int, RewritableLog]], vectors: Iterable[tuple[VersionKey, Vector]], dimension: int
) -> None:
    """Rewrite logs with other vectors, within a transaction of the caller. All vectors are in memory.

    Args:
        logs: all logs of a memory, with the numbers of their graphs.
        vectors: those of all versions.
        dimension: their length.

    Raises:
        InputError: a vector has another length or is of no version, or a version gets no vector.
    """
    given = dict(vectors)
    if sum(_rewrite(namespace, log, given, dimension) for namespace, log in logs) != len(given):
        raise InputError("a vector was given for no version; give those of embedded_versions alone")


def _rewrite(namespace: int, log: RewritableLog, vectors: Mapping[VersionKey, Vector], dimension: int) -> int:
    """Rewrite a log with other vectors; return how many it has."""
    used = 0

    def changed(entry: JournalEntry) -> GraphDelta:
        nonlocal used
        nodes = list(entry.delta.nodes)
        for place, node in enumerate(nodes):
            if node.embedding is not None:
                vector = vectors.get(_key(namespace, entry, place))
                if vector is None or len(vector) != dimension:
                    raise InputError(
                        f"node {node.id!r} gets no vector of dimension {dimension}; give one to each version"
                    )
                nodes[place] = node.changed(embedding=as_vector(vector))
                used += 1
        return replace(entry.delta, nodes=tuple(nodes))

    if isinstance(log, SupportsClaiming):
        log.claim()
    log.rewrite([changed(entry) for entry in log.entries()])
    return used


def _key(namespace: int, entry: JournalEntry, place: int) -> VersionKey:
    return namespace, entry.sequence * _MOST_NODES + place
