"""Import of an export into a memory, in one transaction; and replaying the log of a graph in another one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from neurogated.archive.manifest import JOURNAL, VECTORS, ExportManifest, NamespaceCounts, Progress
from neurogated.core.abilities import SupportsErasedHistory, SupportsNamespaces, SupportsTransaction
from neurogated.core.codec import delta_from_json
from neurogated.core.delta import GraphDelta, Owner
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey
from neurogated.core.ports import GraphStorePort
from neurogated.errors import ConfigError, DatasetError, StorageError

_NUMBER = np.dtype("<f4")
# Errors of a malformed line, and of a store that refuses the delta of a line.
_MALFORMED = (KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError)


def import_memory(
    folder: Path, manifest: ExportManifest, store: GraphStorePort, *, progress: Progress = lambda lines, _: lines
) -> None:
    """Import the graphs of an export into namespaces of the same names, in one transaction.

    The import applies every delta in its order, with its time and reason. So `history` has the same entries, and
    `as_of` a time returns the same graph. The store numbers the deltas itself; the numbers may be smaller than before.

    Args:
        folder: the export.
        manifest: what `open_export` returned for it.
        store: any graph of the memory. The namespaces of the export must be missing or have no history.
        progress: wraps the lines of the journal.

    Raises:
        StorageError: a namespace already has a history, or the disk fails.
        EmbedderMismatchError: the memory holds vectors of another embedder.
        ConfigError: the store holds a single graph only, or an edge type is registered with other properties.
        DatasetError: a line is malformed; the message names file and line.

    After an error in the middle, close the store. The store is unchanged when it is opened again.
    """
    if not isinstance(store, SupportsNamespaces) or not isinstance(store, SupportsTransaction):
        raise ConfigError(f"a {type(store).__name__} cannot take an import; use another storage")
    for kind, value, plastic, both_ways in manifest.edge_types:
        EdgeType.register(kind, value, plastic=plastic, both_ways=both_ways)
    there = set(store.namespaces())
    for namespace in manifest.namespaces:
        if namespace.name in there and any(True for _ in store.in_namespace(namespace.name).journal()):
            raise StorageError(
                f"namespace {namespace.name!r} already has a history, so nothing can be imported into it; "
                "drop the namespace, or import into another save_dir"
            )
    with store.transaction():
        if manifest.embedder is not None:
            store.bind_embedder(*manifest.embedder)
        graphs = {namespace.name: store.in_namespace(namespace.name) for namespace in manifest.namespaces}
        _apply_all(folder, manifest, graphs, progress)


def _apply_all(
    folder: Path, manifest: ExportManifest, graphs: Mapping[str, GraphStorePort], progress: Progress
) -> None:
    path, applied = folder / JOURNAL, Counter[str]()
    names = {namespace.name: namespace for namespace in manifest.namespaces}
    with path.open("rb") as journal, (folder / VECTORS).open("rb") as vectors:
        readers, begin = dict[str, _VectorReader](), 0
        for one in manifest.namespaces:
            readers[one.name] = _VectorReader(vectors, begin, one)
            begin += one.vectors * (one.dimension or 0) * _NUMBER.itemsize
        total = sum(namespace.deltas for namespace in manifest.namespaces)
        for number, line in enumerate(progress(journal, total), start=1):
            try:
                values: dict[str, Any] = json.loads(line)
                name, _ = values.pop("namespace"), values.pop("sequence")
                delta = delta_from_json(values, readers[name].get)
                graphs[name].apply(replace(delta, owner=Owner.IMPORT))
            except _MALFORMED as error:
                raise DatasetError(f"{path}, line {number}: {error}; export the memory again") from error
            applied[name] += 1
            erased = names[name].erased
            if erased == applied[name] and isinstance(graph := graphs[name], SupportsErasedHistory):
                graph.record_erased(graph.view().sequence)
    for namespace in manifest.namespaces:
        if applied[namespace.name] != namespace.deltas:
            raise DatasetError(
                f"{path} has {applied[namespace.name]} lines of namespace {namespace.name!r}, the manifest counts "
                f"{namespace.deltas}; export the memory again"
            )


class _VectorReader:
    """The vectors of one namespace."""

    def __init__(self, file: BinaryIO, begin: int, namespace: NamespaceCounts) -> None:
        self._file, self._begin, self._count = file, begin, namespace.vectors
        self._size = (namespace.dimension or 0) * _NUMBER.itemsize

    def get(self, number: Any) -> NDArray[np.float32]:  # noqa: ANN401 - JSON
        """Return a vector by its number."""
        if not isinstance(number, int) or not 0 <= number < self._count:
            raise ValueError(f"there is no vector {number!r}; the namespace has {self._count}")
        self._file.seek(self._begin + number * self._size)
        return np.frombuffer(self._file.read(self._size), dtype=_NUMBER).astype(np.float32, copy=False)


def replay(source: GraphStorePort, target: GraphStorePort) -> int:
    """Apply the deltas of a graph to another one, in order; return how many there were."""
    count, known = 0, _Known(target)
    for count, entry in enumerate(source.journal(), start=1):  # noqa: B007 - the count of none is 0
        # An operator is a rule over all edges of its graph; those of the other graph have their own.
        if not entry.delta.operators:
            target.apply(known.spared(entry.delta))
    return count


class _Known:
    """The nodes and edges of a graph before a replay. If the replay adds one again, the graph keeps its own."""

    def __init__(self, graph: GraphStorePort) -> None:
        self._held = graph.view()
        self._changed: set[str | EdgeKey] = set()
        """Nodes and edges that the replay has added or removed, so that those of the graph no longer count."""
        self._removed: set[str] = set()
        """Nodes that it has removed, and their edges with them."""

    def spared(self, delta: GraphDelta) -> GraphDelta:
        """Return a delta of the replay without its first versions of nodes and edges that the graph held."""
        self._removed.update(delta.removed_nodes)
        self._changed.update(delta.removed_nodes, delta.removed_edges)
        nodes = [node for node in delta.nodes if self._is_changed(node.id) or not self._has(node.id)]
        edges = [edge for edge in delta.edges if self._is_changed(edge.key) or not self._joins(edge.key)]
        return replace(delta, nodes=tuple(nodes), edges=tuple(edges), owner=Owner.LOG)

    def _is_changed(self, key: str | EdgeKey) -> bool:
        is_changed = key in self._changed
        self._changed.add(key)
        return is_changed

    def _has(self, node_id: str) -> bool:
        return self._held.find(node_id) is not None

    def _joins(self, key: EdgeKey) -> bool:
        ends = key.source_id, key.target_id
        if not self._removed.isdisjoint(ends) or not all(map(self._has, ends)):
            return False
        sources, targets = (self._held.rows([end]) for end in ends)
        return bool((self._held.edge_rows(sources, targets, key.type) >= 0).all())
