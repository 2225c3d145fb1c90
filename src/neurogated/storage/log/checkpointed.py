"""A log of deltas with checkpoints: replays it, writes checkpoints in the background, and replaces its vectors.

A checkpoint is the present graph as a few deltas: they put all nodes in the order of their rows, then all edges, and
remove the removed nodes, whose uses outlive them. Replaying it takes a fraction of the time of replaying a life.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import EmbeddedVersion, VersionKey
from neurogated.core.clock import from_micros
from neurogated.core.codec import decode, encode
from neurogated.core.delta import GraphDelta, JournalEntry
from neurogated.core.model import MemoryNode, Vector, as_vector
from neurogated.core.view import GraphView
from neurogated.errors import CorruptMemoryError, FormatVersionError, InputError, StorageError
from neurogated.storage.checkpoint import Checkpointer, Stamp
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.index.graph_state import GraphState
from neurogated.storage.log.log import Engine, Log, Position, ReplayFollower, SupportsClaiming, SupportsRewriting
from neurogated.utils.background import while_alive

_log = logging.getLogger(__name__)

_LEAST = 100  # deltas before a checkpoint: replaying them takes about as long as reading a small one
_WEIGHT = 4  # so a checkpoint is due after deltas for an eighth of the nodes; each is rewritten as a whole
_AT_ONCE = 1000  # nodes or edges of a delta


class RewrittenError(StorageError):
    """Another process compacted or dropped the graph."""


class CheckpointTable(Protocol):
    """The checkpoint of one graph in a database."""

    def read(self, epoch: int) -> tuple[int, Iterable[bytes]]:
        """Return the number of the last delta in the checkpoint of an epoch, and its encoded deltas; or 0 and none."""

    def write(self, position: Position, deltas: Iterator[bytes]) -> None:
        """Replace the checkpoint, unless the graph was compacted or dropped since it was at this position."""


@dataclass(frozen=True, slots=True)
class _Frozen:
    """A graph at one moment."""

    stamp: Stamp
    position: Position
    state: GraphState


class _Writer:
    """Writes to a table of checkpoints; see `SnapshotStore`."""

    def __init__(self, table: CheckpointTable) -> None:
        self._table = table

    def exclusively(self, patience: float) -> AbstractContextManager[object]:  # noqa: ARG002 - the table takes care
        return nullcontext()

    def write(self, frozen: _Frozen, is_wanted: Callable[[], bool]) -> Path | None:
        """Write a checkpoint, unless it is cancelled before."""
        if is_wanted():
            self._table.write(frozen.position, map(encode, _deltas(frozen.state)))
        return None

    def tidy(self, namespace: int) -> None:
        """Do nothing: a graph has one checkpoint."""


class CheckpointedFollower(ReplayFollower):
    """Replays the checkpoint of a graph and the deltas after it."""

    def __init__(
        self,
        engine: Engine,
        namespace: str,
        log: Log,
        table: CheckpointTable,
        *,
        config: MemoryConfig,
        current: Callable[[], GraphIndex | None],
        read_only: bool,
    ) -> None:
        super().__init__(engine, namespace, log, config)
        self._table, self._current, self._read_only = table, current, read_only
        self._checkpointer = Checkpointer(
            _Writer(table),
            graph_lock=engine.lock,
            freeze=while_alive(self._freeze),
            remap=lambda _: None,
            is_current=lambda: True,
            least=min(_LEAST, config.runtime.checkpoint_changes),
        )

    def load(self) -> GraphIndex | None:
        """Return an index of all deltas; None if the engine no longer has the graph."""
        while self.has_graph():
            self._epoch = self._log.position().epoch
            index = self._from_checkpoint()
            before = index.topology.sequence
            if self.follow(index):
                self._checkpointer.add_backlog(index.topology.sequence - before, _size(index))
                return index
        return None

    def has_graph(self) -> bool:
        """Return whether the engine has the graph."""
        return self._namespace in self._engine.namespaces()

    def follow(self, index: GraphIndex) -> bool:
        """Replay new deltas; return False if the log was rewritten, dropped or rolled back."""
        try:
            return super().follow(index)
        except RewrittenError:
            return False

    def note(self, plan: Plan, index: GraphIndex) -> None:
        """Write a checkpoint after many deltas."""
        self._checkpointer.note(1, len(plan.delta.operators), _size(index))

    def may_unload(self, index: GraphIndex) -> bool:
        """Return whether nothing uses the index, which is reloaded from its checkpoint."""
        return not (self._checkpointer.busy or index.vectors.busy)

    def wait(self, index: GraphIndex) -> None:
        """Wait for the checkpoint; start one if there are many changes."""
        index.vectors.wait()
        if not self._read_only:
            self._checkpointer.checkpoint(at_once=False)
        self._checkpointer.wait()

    def cancel(self) -> None:
        """Cancel the running checkpoint."""
        self._checkpointer.cancel()

    def _from_checkpoint(self) -> GraphIndex:
        """Return the index from the checkpoint; an empty one if there is none."""
        sequence, stored = self._table.read(self._epoch)
        index = self._empty()
        try:
            for body in stored:
                self._replay(index, sequence, decode(body))
        except (CorruptMemoryError, FormatVersionError) as error:
            _log.warning("the checkpoint of %r cannot be used (%s); the index is rebuilt", self._namespace, error)
            return self._empty()
        return index

    def _freeze(self) -> _Frozen | None:
        index = self._current()
        if index is None:
            return None
        records, view = self.records(index), index.topology.view()
        state = GraphState(index, view, records, index.made_texts, index.pending, index.embedder).isolated()
        return _Frozen(Stamp("", 0, view.sequence, 0), Position(self._epoch, view.sequence), state)


def _size(index: GraphIndex) -> int:
    return _WEIGHT * index.topology.view().node_count


def _deltas(state: GraphState) -> Iterator[GraphDelta]:
    """Yield the deltas that make a graph with the same rows of nodes."""
    view, removed = state.view, []
    for begin in range(0, view.node_count, _AT_ONCE):
        rows = np.arange(begin, min(begin + _AT_ONCE, view.node_count))
        live = rows[view.alive.take(rows).astype(np.bool_)]
        nodes = dict(zip(live.tolist(), state.nodes(live), strict=True))
        gone = [row for row in rows.tolist() if row not in nodes]
        removed += [view.ids[row] for row in gone]
        yield GraphDelta(nodes=tuple(nodes.get(row) or _removed(view, row) for row in rows.tolist()))
    edges = view.live_edges()
    for begin in range(0, edges.size, _AT_ONCE):
        yield GraphDelta(edges=tuple(state.edges(edges[begin : begin + _AT_ONCE])))
    yield GraphDelta(removed_nodes=tuple(removed), queued=tuple(state.pending))


def _removed(view: GraphView, row: int) -> MemoryNode:
    """Return a node without content, with the uses of a removed one."""
    place = np.array([row])
    used, charged = (from_micros(getattr(view, name).take(place)[0]) for name in ("last_accessed", "charged_at"))
    return MemoryNode(
        id=view.ids[row],
        content="",
        created_at=used,
        last_accessed=used,
        uses=int(view.uses.take(place)[0]),
        charge=float(view.charge.take(place)[0]),
        charged_at=charged,
    )


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
