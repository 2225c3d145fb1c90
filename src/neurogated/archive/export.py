"""Lossless export of a memory to a folder of plain files, one delta at a time; and all memories of one user."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from neurogated.archive.importing import (
    JOURNAL,
    MANIFEST,
    VECTORS,
    ExportManifest,
    FileSeal,
    NamespaceCounts,
    Progress,
    check_files,
    manifest_bytes,
)
from neurogated.core.abilities import SupportsCompaction
from neurogated.core.clock import from_micros
from neurogated.core.codec import delta_to_json, line_of
from neurogated.core.delta import Access, GraphDelta, JournalEntry, PendingTask
from neurogated.core.edge_type import EdgeType
from neurogated.core.files import make_folder, private, sync_folder
from neurogated.core.model import ACCESSED, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.errors import StorageError

_NUMBER = np.dtype("<f4")


def export_memory(
    stores: Mapping[str, GraphStorePort],
    embedder: tuple[str, int] | None,
    folder: Path,
    *,
    made_by: str,
    progress: Progress = lambda lines, _: lines,
) -> ExportManifest:
    """Write graphs with their whole journals to a new folder; `archive.importing` describes its files.

    The export leaves out deltas that are written during it, and fails if the journal is rewritten during it. It writes
    to a temporary folder, compares its files with their checksums, and then renames the folder. A killed export leaves
    a partial copy whose name begins with a dot and ends in `.partial`. The export holds one delta and a few numbers for
    each node in memory, never all texts or vectors.

    Args:
        stores: the graph of each namespace.
        embedder: name and dimension of the embedder of the vectors.
        folder: the new folder; it must not exist.
        made_by: version of neurogated.
        progress: wraps the lines of the journal.

    Raises:
        StorageError: the folder exists or cannot be written, or a live node is not in the journal.
        CorruptMemoryError: a written file differs from its checksum.
    """
    folder = folder.absolute()
    refuse_existing(folder)
    partial = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.partial")
    try:
        make_folder(partial)
        manifest = _write(partial, stores, embedder, made_by, progress)
        check_files(partial, manifest)
        partial.rename(folder)
        sync_folder(folder.parent)
    except BaseException as error:
        shutil.rmtree(partial, ignore_errors=True)
        if isinstance(error, OSError) and not isinstance(error, StorageError):
            raise StorageError(f"cannot write the export {folder} ({error})") from error
        raise
    return manifest


def refuse_existing(folder: Path) -> None:
    """Raise StorageError if a file or folder of this name exists."""
    if os.path.lexists(folder):
        raise StorageError(f"{folder} already exists; choose another name or remove it")


def _write(
    folder: Path,
    stores: Mapping[str, GraphStorePort],
    embedder: tuple[str, int] | None,
    made_by: str,
    progress: Progress,
) -> ExportManifest:
    surveys = {name: _survey(name, store) for name, store in stores.items()}
    types: dict[EdgeType, None] = {}
    namespaces: list[NamespaceCounts] = []
    with _Output(folder / JOURNAL) as journal, _Output(folder / VECTORS) as vectors:

        def lines() -> Iterator[bytes]:
            for name, store in stores.items():
                survey, written, deltas, erased = surveys[name], _VectorWriter(vectors), 0, 0
                erased_up_to = store.erased_up_to() if isinstance(store, SupportsCompaction) else 0
                for entry in survey.entries(store):
                    delta, of = entry.delta, {"namespace": name, "sequence": entry.sequence}
                    edges = (*(edge.key for edge in delta.edges), *(one.edge for one in delta.weights))
                    types.update((key.type, None) for key in (*delta.removed_edges, *edges, *delta.touch.edges))
                    yield line_of(of | delta_to_json(delta, written.put))
                    deltas, erased = deltas + 1, erased + (entry.sequence <= erased_up_to)
                if deltas != survey.deltas:
                    told = f"the journal of namespace {name!r} was rewritten during the export; export again"
                    raise StorageError(told)
                counts = written.count, written.dimension, survey.nodes, survey.edges, erased
                namespaces.append(NamespaceCounts(name, deltas, *counts))

        for line in progress(lines(), sum(one.deltas for one in surveys.values())):
            journal.write(line)
        files = {JOURNAL: journal.finish(), VECTORS: vectors.finish()}
    manifest = ExportManifest(
        neurogated=made_by,
        embedder=embedder,
        edge_types=tuple((kind.name, kind.value, kind.plastic, kind.both_ways) for kind in types),
        namespaces=tuple(namespaces),
        files=files,
    )
    with _Output(folder / MANIFEST) as file:
        file.write(manifest_bytes(manifest))
        file.finish()
    sync_folder(folder)
    return manifest


class _Survey(NamedTuple):
    """What the export of a namespace has beside its journal.

    Not every store journals accesses and pending tasks. So the export writes the present accesses of a node into its
    last put, and tasks that the journal lacks into one more line, and leaves both out elsewhere.
    """

    sequence: int
    """The number of the last exported delta."""
    deltas: int
    """The number of lines."""
    nodes: int
    edges: int
    accesses: Mapping[str, tuple[Any, ...]]
    """By the id of a node, the number of the last delta that put it, and its columns `ACCESSED`."""
    tasks: Sequence[PendingTask] | None
    """The pending tasks; None if the journal has the same."""
    last: datetime
    """The time of the last delta."""

    def entries(self, store: GraphStorePort) -> Iterator[JournalEntry]:
        """Yield the deltas of the export."""
        for entry in store.journal():
            if entry.sequence <= self.sequence:
                nodes = tuple(self._accessed(node, entry.sequence) for node in entry.delta.nodes)
                delta = dataclasses.replace(entry.delta, nodes=nodes, touch=Access(edges=entry.delta.touch.edges))
                if self.tasks is not None:
                    delta = dataclasses.replace(delta, queued=(), settled=())
                yield JournalEntry(entry.sequence, delta)
        if self.tasks:
            # The delta has the time of the last one, so `as_of` returns the same graph for every time.
            delta = GraphDelta(queued=tuple(self.tasks), reason="pending tasks at export", at=self.last)
            yield JournalEntry(self.sequence + 1, delta)

    def _accessed(self, node: MemoryNode, sequence: int) -> MemoryNode:
        last_put, moment, uses, charge, charged_at = self.accesses.get(node.id, (-1, 0, 0, 0.0, 0))
        if last_put != sequence:
            return node
        last_accessed, charged = from_micros(moment), from_micros(charged_at)
        return node.changed(last_accessed=last_accessed, uses=uses, charge=charge, charged_at=charged)


def _survey(name: str, store: GraphStorePort) -> _Survey:
    view, pending = store.snapshot(whole=True).view, store.pending()
    while store.view().sequence != view.sequence:
        # A write came between both.
        view, pending = store.snapshot(whole=True).view, store.pending()
    last_put, waiting, last, deltas = dict[str, int](), dict[PendingTask, None](), from_micros(0), 0
    for entry in (one for one in store.journal() if one.sequence <= view.sequence):
        last_put.update((node.id, entry.sequence) for node in entry.delta.nodes)
        waiting.update(dict.fromkeys(entry.delta.queued))
        for task in entry.delta.settled:
            waiting.pop(task, None)
        last, deltas = entry.delta.at, deltas + 1
    rows = view.live_nodes()
    ids = view.names(rows)
    if lost := next((one for one in ids if one not in last_put), None):
        raise StorageError(f"the journal of namespace {name!r} does not contain node {lost!r}; run 'check'")
    columns = (getattr(view, column).take(rows).tolist() for column in ACCESSED)
    accesses = {one: (last_put[one], *now) for one, *now in zip(ids, *columns, strict=True)}
    edges, tasks = int(view.live_edges().size), None if list(waiting) == pending else pending
    return _Survey(view.sequence, deltas + bool(tasks), len(ids), edges, accesses, tasks, last)


class _VectorWriter:
    """Writes the vectors of one namespace. Versions of a node with the same vector share one entry."""

    def __init__(self, file: _Output) -> None:
        self.count = 0
        self.dimension: int | None = None
        self._file, self._begin = file, file.size
        self._latest: dict[str, int] = {}

    def put(self, node: MemoryNode) -> int | None:
        """Write the node's embedding if it is new, and return its number."""
        if node.embedding is None:
            return None
        data = np.asarray(node.embedding, dtype=_NUMBER).tobytes()
        self.dimension = self.dimension or len(node.embedding)
        if len(node.embedding) != self.dimension:
            raise StorageError(
                f"the embedding of node {node.id!r} has dimension {len(node.embedding)}, earlier embeddings have "
                f"{self.dimension}; run 'check'"
            )
        known = self._latest.get(node.id)
        if known is not None and self._file.read(self._begin + known * len(data), len(data)) == data:
            return known
        self._file.write(data)
        self._latest[node.id] = self.count
        self.count += 1
        return self._latest[node.id]


class _Output:
    """A file that is written sequentially, with its checksum."""

    def __init__(self, path: Path) -> None:
        self.size = 0
        self._file = open(path, "w+b", opener=private)  # noqa: SIM115
        self._digest = hashlib.sha256()

    def write(self, data: bytes) -> None:
        """Append `data`."""
        self._file.write(data)
        self._digest.update(data)
        self.size += len(data)

    def read(self, begin: int, count: int) -> bytes:
        """Return `count` written bytes from the position `begin`."""
        self._file.seek(begin)
        data = self._file.read(count)
        self._file.seek(self.size)
        return data

    def finish(self) -> FileSeal:
        """Sync the file to disk, and return its size and checksum."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return FileSeal(self.size, self._digest.hexdigest())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


_PLAIN = ("content", "title", "role", "speaker", "kind", "importance", "uses", "position")
_TIMES = ("timestamp", "valid_from", "valid_to", "expires_at", "created_at", "last_accessed")


def user_lines(namespace: str, store: GraphStorePort, user_id: str) -> Iterator[str]:
    """Yield a line of JSON for each memory of a user, with all its versions.

    Deleted memories are included until a compaction removes them.
    """
    versions: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in store.journal():
        at = {"at": entry.delta.at.isoformat(), "reason": entry.delta.reason}
        for node in entry.delta.nodes:
            if node.scope.user_id == user_id:
                values = {name: getattr(node, name) for name in _PLAIN}
                values |= {name: time and time.isoformat() for name in _TIMES for time in [getattr(node, name)]}
                values |= {name: getattr(node.scope, name) for name in ("agent_id", "session_id")}
                values |= {"path": list(node.scope.path), "tags": list(node.tags), "metadata": dict(node.metadata)}
                values["found"] = node.found.to_json()
                given = {name: value for name, value in values.items() if value not in (None, [], {})}
                versions[node.id].append(at | given)
        for node_id in entry.delta.removed_nodes:
            if node_id in versions:
                versions[node_id].append({**at, "deleted": True})
    for node_id, told in versions.items():
        yield json.dumps({"namespace": namespace, "id": node_id, "versions": told}, ensure_ascii=False) + "\n"
