"""The index of one graph, on which reads and writes work: columns, validity, vectors and texts, all by row."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.conflicts import CONFLICT, Conflict
from neurogated.core.delta import GraphDelta, PendingTask
from neurogated.core.facts import FACTS, Outcome, outcome_of, times_of
from neurogated.core.files import make_folder
from neurogated.core.found import Found, Said
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.rendering import keyword_text, tags
from neurogated.core.turns import Described
from neurogated.core.view import GraphView, Rows
from neurogated.errors import EmbedderMismatchError, InputError
from neurogated.slots.claims import entry_of
from neurogated.storage.files import Write
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph.topology import Column, Topology, load_base_layer, write_topology
from neurogated.storage.index.graph.validity import NO_CHANGES, OutcomeChanges, RowOutcomes, Validity, micros_or_none
from neurogated.storage.index.term_edges import TermEdges
from neurogated.storage.index.text.lexical_store import LexicalStore
from neurogated.storage.index.vectors.embedding_store import EmbeddingStore

_Record = TypeVar("_Record")

# How many nodes or edges are in memory at once.
_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """The fields of a node that are neither columns nor its vector."""

    content: str
    metadata: Mapping[str, Any]
    created_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None
    timestamp: datetime | None
    role: str | None
    speaker: str | None
    title: str | None
    position: int | None
    tags: tuple[str, ...]
    found: Found

    def fields(self) -> dict[str, Any]:
        """Return the fields by name."""
        return dict(zip(self.__slots__, RECORD_FIELDS(self), strict=True))

    @classmethod
    def of(cls, node: MemoryNode) -> NodeRecord:
        """Return the record of `node`."""
        return cls(*RECORD_FIELDS(node))


RECORD_FIELDS = attrgetter(*NodeRecord.__slots__)
"""Returns the fields of a record, or those of a node that a record has."""


@dataclass(frozen=True, slots=True)
class EdgeRecord:
    """The fields of an edge that are not columns."""

    created_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    relation: str | None

    @classmethod
    def of(cls, edge: MemoryEdge) -> EdgeRecord:
        """Return the record of `edge`."""
        return cls(**{name: getattr(edge, name) for name in cls.__slots__})


def said_of(node: NodeRecord | MemoryNode) -> Said:
    """Return when a node was said, and its text if that names times."""
    return Said(node.timestamp, node.found.zone, node.content if node.found.times else "")


class RecordsErasedError(Exception):
    """A record was erased after the state was taken."""


class Records(Protocol):
    """The records of nodes and edges, by row."""

    def nodes(self, rows: Rows) -> Sequence[NodeRecord]:
        """Return the records of nodes in the order of `rows`; raises RecordsErasedError."""

    def said(self, rows: Rows) -> Sequence[Said]:
        """Return when nodes were said in the order of `rows`; raises RecordsErasedError."""

    def edges(self, rows: Rows) -> Sequence[EdgeRecord]:
        """Return the records of edges in the order of `rows`; raises RecordsErasedError."""

    def isolated(self) -> Self:
        """Return records that later changes do not affect."""


@dataclass(frozen=True, slots=True)
class MemoryRecords:
    """Records in dictionaries, which change with the graph."""

    node_payloads: dict[int, NodeRecord] = field(default_factory=dict)
    edge_payloads: dict[int, EdgeRecord] = field(default_factory=dict)

    def commit(self, plan: Plan) -> None:
        """Apply a planned change."""
        for row in plan.removed_nodes.tolist():
            self.node_payloads.pop(row, None)
        for row, node in zip(plan.node_rows.tolist(), plan.delta.nodes, strict=True):
            self.node_payloads[row] = NodeRecord.of(node)
        for row, edge in zip(plan.edge_rows.tolist(), plan.delta.edges, strict=True):
            self.edge_payloads[row] = EdgeRecord.of(edge)
        for row in plan.removed_edges.tolist():
            self.edge_payloads.pop(row, None)

    def nodes(self, rows: Rows) -> list[NodeRecord]:
        # Callers may change the metadata, which must not change the store.
        records = _found(self.node_payloads, rows)
        return [replace(record, metadata=deepcopy(record.metadata)) for record in records]

    def said(self, rows: Rows) -> list[Said]:
        return list(map(said_of, _found(self.node_payloads, rows)))

    def edges(self, rows: Rows) -> list[EdgeRecord]:
        return _found(self.edge_payloads, rows)

    def isolated(self) -> Self:
        """Return a copy of the dictionaries."""
        return type(self)(dict(self.node_payloads), dict(self.edge_payloads))


def _found(payloads: Mapping[int, _Record], rows: Rows) -> list[_Record]:
    try:
        return [payloads[row] for row in rows.tolist()]
    except KeyError as error:
        raise RecordsErasedError from error


def portions(rows: Rows) -> Iterator[Rows]:
    """Split rows into batches, so that few nodes or edges are in memory at once."""
    return (rows[begin : begin + _AT_ONCE] for begin in range(0, rows.size, _AT_ONCE))


_OF_OUTCOMES = frozenset({CONFLICT, *FACTS})

ReadTexts = Callable[[Rows], Sequence[Described]]
"""Returns the texts at rows of a view."""

_TOPOLOGY = "topology"
_VECTORS = "vectors"
_TEXTS = "texts"


def put_texts(index: LexicalStore, rows: Rows, nodes: Sequence[Described]) -> None:
    """Upsert the texts and tags of nodes."""
    texts = [keyword_text(node) for node in nodes]
    index.put(rows, texts, [tags(node) for node in nodes])


class GraphIndex:
    """The in-memory index of one graph. All of it is derived from the log and can be rebuilt."""

    def __init__(self, config: MemoryConfig) -> None:
        self._config = config
        # The engine's keys of the rows, ascending; empty for an engine that identifies rows by their ids.
        self.node_keys, self.edge_keys = Column(np.int64), Column(np.int64)
        # None if the engine reads the records from disk.
        self.records: MemoryRecords | None = None
        # These are replaced when they change, never mutated.
        self.pending: Mapping[PendingTask, None] = {}
        self.embedder: tuple[str, int] | None = None
        self.topology = Topology()
        self.validity = Validity(RowOutcomes(compares="slots" in config.metabolism.known_by))
        self.vectors = EmbeddingStore()
        # The keywords and tags, built on first use, so that a command that only counts nodes does not read all texts.
        self.made_texts: LexicalStore | None = None
        # For a graph of the past: returns its keywords and tags as a fork of the index of the present.
        self.fork_texts: Callable[[GraphView, ReadTexts], LexicalStore] | None = None
        self.making_texts = threading.Lock()
        self._term_edges: TermEdges | None = None

    @classmethod
    def load(cls, folder: Path, config: MemoryConfig) -> Self:
        """Load a frozen index from its files, except the validity.

        Raises:
            OSError: a file is missing.
            ValueError: a file has other contents.
        """
        form = cls(config)
        form.topology = Topology.load(folder / _TOPOLOGY)
        form.vectors = EmbeddingStore.load(folder / _VECTORS)
        form.made_texts = LexicalStore.load(folder / _TEXTS)
        return form

    @property
    def computes_terms(self) -> bool:
        """Whether the TERM edges are computed from the texts. Otherwise a graph has those that were stored."""
        return self._term_edges is not None

    def compute_terms(self, most: int, texts: Callable[[], LexicalStore]) -> None:
        """Compute the TERM edges for keywords that at most `most` texts have; `texts` builds the index of texts."""
        if most and self._term_edges is None:
            self._term_edges = TermEdges(most, texts)
            self.topology.compute(self._term_edges)

    def freeze(self, read: ReadTexts) -> Write:
        """Return what writes the present index, without the validity, while this one changes; see `texts`."""
        view, vectors = self.topology.view(), self.vectors.isolated()
        texts = self.texts(view, read).isolated()

        def write(folder: Path, previous: Path | None) -> None:
            for name in (_TOPOLOGY, _VECTORS, _TEXTS):
                make_folder(folder / name)
            write_topology(view, folder / _TOPOLOGY)
            for name, part in ((_VECTORS, vectors), (_TEXTS, texts)):
                part.write(folder / name, None if previous is None else previous / name)

        return write

    def remap(self, folder: Path) -> None:
        """Use the files of a frozen index in `folder` instead of the arrays in memory."""
        self.topology.remap(load_base_layer(folder / _TOPOLOGY))
        self.vectors.remap(folder / _VECTORS)
        if self.made_texts is not None:
            self.made_texts.remap(folder / _TEXTS)

    def isolated(self) -> GraphIndex:
        """Return an index with the present validity, vectors and texts, isolated from later changes.

        It is read-only and has no columns; the caller keeps a view beside it.
        """
        form = GraphIndex(self._config)
        form.validity = self.validity.isolated()
        form.vectors = self.vectors.isolated()
        form.made_texts = None if self.made_texts is None else self.made_texts.isolated()
        return form

    def close(self) -> None:
        """Stop all background work."""
        self.vectors.close()
        if self.made_texts is not None:
            self.made_texts.wait()

    def commit(self, plan: Plan, sequence: int) -> None:
        """Apply a plan as the delta numbered `sequence`, except to the validity; it cannot fail."""
        if self.made_texts is None and not self.topology.ids:
            self.made_texts = LexicalStore()
        if self.records is not None:
            self.records.commit(plan)
        self.topology.commit(plan, sequence)
        self._commit_vectors(plan)
        if plan.delta.queued or plan.delta.settled:
            waiting = {**self.pending, **dict.fromkeys(plan.delta.queued)}
            for task in plan.delta.settled:
                waiting.pop(task, None)
            self.pending = waiting
        if self.made_texts is not None:
            if plan.removed_nodes.size:
                self.made_texts.remove(np.setdiff1d(plan.removed_nodes, plan.node_rows))
            put_texts(self.made_texts, plan.node_rows, plan.delta.nodes)

    def planned_outcomes(self, plan: Plan, records: Records) -> OutcomeChanges:
        """Return the outcomes that a plan changes, with the times of their sides; the plan is not applied yet."""
        if self.validity.outcomes.are_none and _OF_OUTCOMES.isdisjoint([node.kind for node in plan.delta.nodes]):
            return NO_CHANGES
        nodes = dict(zip(plan.node_rows.tolist(), plan.delta.nodes, strict=True))
        return self.outcome_changes(plan.removed_nodes.tolist(), nodes, records)

    def outcome_changes(
        self, removed: Collection[int], nodes: Mapping[int, MemoryNode], records: Records
    ) -> OutcomeChanges:
        """Return the outcomes that change when nodes are removed and others are put, by their rows."""
        put, view = {node.id: row for row, node in nodes.items()}, self.topology.view()
        conflicts = [(row, node) for row, node in nodes.items() if node.kind == CONFLICT]
        # None for a conflict that is invalid or lacks a side.
        outcomes: dict[int, Outcome | None] = {row: None for row, _ in conflicts}
        for row, node in conflicts:
            with suppress(InputError):
                conflict = Conflict.of(node)
                first, second = (put.get(name, view.find(name)) for name in conflict.sides)
                if first is not None and second is not None:
                    outcomes[row] = outcome_of(conflict, (first, second), node.created_at)
        times = self.validity.outcomes.valid_time
        held = [row for row, node in nodes.items() if node.kind in FACTS or times(row) is not None]
        entries = {row: entry_of(nodes[row], row) for row in held}
        sides = {side for one in outcomes.values() if one is not None for side in one.sides}
        known_sides = self.validity.outcomes.sides
        known = {row: times_of(node) for row, node in nodes.items() if row in sides or row in known_sides}
        others = sorted(row for row in sides - known.keys() if self.validity.outcomes.valid_time(row) is None)
        read = self._nodes(np.array(others, dtype=np.int64), records)
        return OutcomeChanges(removed, outcomes, known | {row: times_of(node) for row, node in read.items()}, entries)

    def _nodes(self, rows: Rows, records: Records) -> dict[int, MemoryNode]:
        """Return the nodes at some rows, with those of their fields that outcomes need."""
        if not rows.size:
            return {}
        view = self.topology.view()
        kinds, scopes = view.kind.take(rows).tolist(), view.scope.take(rows).tolist()
        found = zip(rows.tolist(), kinds, scopes, records.nodes(rows), strict=True)
        return {
            row: MemoryNode.restored(
                id=view.ids[row], kind=view.kinds[kind], scope=view.scopes[scope], **record.fields()
            )
            for row, kind, scope, record in found
        }

    def load_outcomes(self, changed: Rows, removed: Rows, records: Records) -> None:
        """Load the outcomes of changed nodes, of which the columns are loaded."""
        view = self.topology.view()
        codes = [code for code, kind in enumerate(view.kinds) if kind == CONFLICT or kind in FACTS]
        rows = changed[np.isin(view.kind.take(changed), codes)] if codes else changed[:0]
        again = np.intersect1d(np.fromiter(self.validity.outcomes.known, np.int64), changed)
        nodes = self._nodes(np.union1d(rows, again), records)
        self.validity.settle(self.outcome_changes(removed.tolist(), nodes, records))

    def commit_validity(self, plan: Plan, outcomes: OutcomeChanges) -> None:
        """Apply a plan with its outcomes to the validity; it cannot fail."""
        if plan.removed_nodes.size or plan.removed_edges.size:
            self.validity.remove(plan.removed_nodes, plan.removed_edges)
        for row, node in zip(plan.node_rows.tolist(), plan.delta.nodes, strict=True):
            times = node.valid_from, node.valid_to, node.expires_at
            self.validity.put_node(row, *map(micros_or_none, times))
        if outcomes is not NO_CHANGES:
            self.validity.settle(outcomes)
        for row, edge in zip(plan.edge_rows.tolist(), plan.delta.edges, strict=True):
            if edge.valid_from is not None or edge.valid_to is not None:
                self.validity.put_edge(row, micros_or_none(edge.valid_from), micros_or_none(edge.valid_to))

    @property
    def size(self) -> int:
        """Number of node rows and edge rows, also of removed ones."""
        view = self.topology.view()
        return view.node_count + view.edge_count

    def texts(self, view: GraphView, read: ReadTexts) -> LexicalStore:
        """Return the index of keywords and tags; build it if needed, from the texts that `read` returns for rows."""
        with self.making_texts:
            if self.made_texts is None and self.fork_texts is not None:
                self.made_texts = self.fork_texts(view, read)
            elif self.made_texts is None:
                index = LexicalStore()
                _put_texts(index, view.live_nodes(), read)
                self.made_texts = index
            return self.made_texts

    def renew_texts(self, changed: Rows, removed: Rows, read: ReadTexts) -> None:
        """Update keywords and tags of changed and removed nodes, if they are built; see `texts`."""
        if self.made_texts is not None:
            self.made_texts.remove(removed)
            _put_texts(self.made_texts, changed, read)

    def check_vectors(self, delta: GraphDelta) -> None:
        """Check that the embeddings of a delta have one dimension, and that of the present vectors.

        Raises:
            InputError: they differ; the message names nodes and dimensions.
        """
        known, lengths = self.vectors.dimension, dict[int, str]()
        for node in delta.nodes:
            if node.embedding is not None:
                if (length := len(node.embedding)) != known:
                    self.vectors.check(node.embedding, f"node {node.id!r}")
                lengths[length] = node.id
        if len(lengths) > 1:
            raise InputError(f"the delta holds embeddings of different dimensions: {lengths}")

    def _commit_vectors(self, plan: Plan) -> None:
        nodes = list(zip(plan.node_rows.tolist(), plan.delta.nodes, strict=True))
        without = [row for row, node in nodes if node.embedding is None]
        given = [(row, node.embedding) for row, node in nodes if node.embedding is not None]
        if not nodes and not plan.removed_nodes.size:
            return
        rows = np.array([row for row, _ in given], dtype=np.int64)
        vectors = np.array([vector for _, vector in given], dtype=np.float32)
        self.vectors.change(np.concatenate((plan.removed_nodes, np.array(without, dtype=np.int64))), [(rows, vectors)])


def _put_texts(index: LexicalStore, rows: Rows, read: ReadTexts) -> None:
    for some in portions(rows):
        put_texts(index, some, read(some))


def mismatch(known: str, known_dimension: int | None, name: str, dimension: int | None) -> EmbedderMismatchError:
    """Return the error that names both embedders and the remedy."""
    return EmbedderMismatchError(
        f"this memory was built with embedder {known!r} (dimension {known_dimension}), but is opened "
        f"with {name!r} (dimension {dimension or 'not loaded yet'}); set embedding_name to the first, "
        f"or move the memory to the second with `neurogated migrate --embedding_name {name}` and the --save_dir or "
        "--storage of the memory"
    )
