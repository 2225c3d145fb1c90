"""The form of a graph that questions and writes work on: columns, validity, vectors and texts, all by row."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.column_view import ColumnView
from neurogated.core.delta import GraphDelta, PendingTask
from neurogated.core.rendering import Described, keyword_text, tags
from neurogated.core.view import Rows
from neurogated.errors import InputError
from neurogated.storage.checkpoint.derived import PartSnapshot
from neurogated.storage.index.graph.columns import Column
from neurogated.storage.index.graph.topology import Topology
from neurogated.storage.index.graph.topology_files import TopologySnapshot, load_base_layer, load_topology
from neurogated.storage.index.graph.validity import Validity
from neurogated.storage.index.text.lexical_store import LexicalStore, OverlaidLexicalStore
from neurogated.storage.index.vectors.embedding_store import EmbeddingStore, VectorSettings
from neurogated.storage.log.records import MemoryRecords
from neurogated.storage.resolve import Plan

__all__ = ["GraphIndex", "ReadTexts", "put_texts"]

_log = logging.getLogger(__name__)

# How many texts are read at once when the keyword index is made.
_INDEX_CHUNK = 1000


ReadTexts = Callable[[Rows], Sequence[Described]]
"""Gives the texts at rows of a view."""

_TOPOLOGY = "topology"
_VECTORS = "vectors"
_TEXTS = "texts"


def put_texts(index: LexicalStore | OverlaidLexicalStore, rows: Rows, nodes: Sequence[Described]) -> None:
    """Add the texts and tags of nodes to an index, or put them in the place of those at the same rows."""
    texts = [keyword_text(node) for node in nodes]
    index.put(rows, texts, [tags(node) for node in nodes])


@dataclass(frozen=True, slots=True)
class _GraphSnapshot:
    """A graph index at one moment; see `derived.PartSnapshot`."""

    parts: Mapping[str, PartSnapshot]

    def write(self, folder: Path, previous: Path | None) -> None:
        for name, part in self.parts.items():
            (folder / name).mkdir()
            part.write(folder / name, None if previous is None else previous / name)


class GraphIndex:
    """What is kept in memory of one graph; everything in it follows from the log and can be rebuilt."""

    def __init__(self, config: MemoryConfig) -> None:
        self._config = config
        # The numbers by which the engine knows the rows, ascending; none where it knows them by their ids.
        self.node_keys, self.edge_keys = Column(np.int64), Column(np.int64)
        # None where the engine reads them from its disk.
        self.records: MemoryRecords | None = None
        # Replaced when they change, never changed.
        self.pending: Mapping[PendingTask, None] = {}
        self.embedder: tuple[str, int] | None = None
        self.topology = Topology(config.runtime.overlay_edges)
        self.validity = Validity()
        # Rows of the edges with each relation, those of removed edges too.
        self.relations: dict[str, list[int]] = {}
        self.vectors = EmbeddingStore(**_vector_settings(config))
        # Where they were kept at another precision, and have yet to be put.
        self.lacks_vectors = False
        # Made on first use, so that a memory that is only counted does not read all its texts.
        self._texts: LexicalStore | None = None
        # Gives keywords and tags of the past, which are in the index of the present.
        self.overlay: Callable[[ColumnView, ReadTexts], OverlaidLexicalStore] | None = None
        self._making_texts = threading.Lock()

    @classmethod
    def load(cls, folder: Path, config: MemoryConfig) -> Self:
        """Return the form that was frozen and written, but for the validity; see `lacks_vectors`.

        Raises:
            OSError: a file is missing.
            ValueError: a file is not what was written.
        """
        form = cls(config)
        form.topology = load_topology(folder / _TOPOLOGY, config.runtime.overlay_edges)
        try:
            form.vectors = EmbeddingStore.load(folder / _VECTORS, **_vector_settings(config))
        except ValueError as error:
            _log.info("vectors are read anew: %s", error)
            form.lacks_vectors = True
        form._texts = LexicalStore.load(folder / _TEXTS)
        return form

    def freeze(self, read: ReadTexts) -> PartSnapshot:
        """Return the form as it is now but for the validity, to be written while it goes on changing; see `texts`."""
        view = self.topology.view()
        parts: dict[str, PartSnapshot] = {_TOPOLOGY: TopologySnapshot(view), _VECTORS: self.vectors.freeze()}
        parts[_TEXTS] = self.own_texts(view, read).freeze()
        return _GraphSnapshot(parts)

    def remap(self, folder: Path) -> None:
        """Use what was frozen and written to `folder` in the place of what is in memory."""
        self.topology.remap(load_base_layer(folder / _TOPOLOGY))
        self.vectors.remap(folder / _VECTORS)
        if self._texts is not None:
            self._texts.remap(folder / _TEXTS)

    @property
    def made_texts(self) -> LexicalStore | None:
        """Keywords and tags, None while they are not made; see `texts`."""
        return self._texts

    def isolated(self) -> GraphIndex:
        """Return a form with the present validity, vectors and texts, which later changes here do not reach.

        It is for reading, and has no columns of its own: a view goes with it.
        """
        form = GraphIndex(self._config)
        form.validity = self.validity.isolated()
        form.relations = self.relations
        form.vectors = self.vectors.isolated()
        form._texts = None if self._texts is None else self._texts.isolated()
        return form

    def close(self) -> None:
        """Stop what goes on in the background."""
        self.vectors.close()
        if self._texts is not None:
            self._texts.wait()

    def commit(self, plan: Plan, sequence: int) -> None:
        """Make a planned change, numbered `sequence`, in all but the validity; it cannot fail."""
        if self._texts is None and not self.topology.ids:
            self._texts = LexicalStore()
        if self.records is not None:
            self.records.commit(plan)
        self.topology.commit(plan, sequence)
        self._commit_vectors(plan)
        if plan.delta.queued or plan.delta.settled:
            waiting = {**self.pending, **dict.fromkeys(plan.delta.queued)}
            self.pending = {task: None for task in waiting if task not in plan.delta.settled}
        if self._texts is not None:
            if plan.removed_nodes.size:
                self._texts.remove(np.setdiff1d(plan.removed_nodes, plan.node_rows))
            put_texts(self._texts, plan.node_rows, plan.delta.nodes)

    def commit_validity(self, plan: Plan) -> None:
        """Make a planned change in the validity; it cannot fail."""
        self.validity.remove(plan.removed_nodes, plan.removed_edges)
        self.validity.put_nodes(plan.node_rows.tolist(), plan.delta.nodes)
        self.validity.put_edges(plan.edge_rows.tolist(), plan.delta.edges)
        for row, edge in zip(plan.edge_rows.tolist(), plan.delta.edges, strict=True):
            if edge.relation is not None:
                self.relations.setdefault(edge.relation, []).append(row)

    @property
    def size(self) -> int:
        """How many nodes and edges there are and were."""
        view = self.topology.view()
        return view.node_count + view.edge_count

    def texts(self, view: ColumnView, read: ReadTexts) -> LexicalStore | OverlaidLexicalStore:
        """Return keywords and tags of all nodes; where they are not made, `read` gives the texts at rows of `view`."""
        return self.own_texts(view, read) if self.overlay is None else self.overlay(view, read)

    def own_texts(self, view: ColumnView, read: ReadTexts) -> LexicalStore:
        """Return what `texts` does for an index of the present."""
        with self._making_texts:
            if self._texts is None:
                index = LexicalStore()
                _put_texts(index, view.live_nodes(), read)
                self._texts = index
            return self._texts

    def renew_texts(self, changed: Rows, removed: Rows, read: ReadTexts) -> None:
        """Let keywords and tags follow nodes that have changed; see `texts`."""
        if self._texts is not None:
            self._texts.remove(removed)
            _put_texts(self._texts, changed, read)

    def check_vectors(self, delta: GraphDelta) -> None:
        """Refuse embeddings that cannot be compared with each other and with those there are.

        Raises:
            InputError: names the nodes and dimensions.
        """
        lengths: dict[int, str] = {}
        for node in delta.nodes:
            if node.embedding is not None:
                self.vectors.check(node.embedding, f"node {node.id!r}")
                lengths.setdefault(len(node.embedding), node.id)
        if len(lengths) > 1:
            raise InputError(f"the delta holds embeddings of different dimensions: {lengths}")

    def _commit_vectors(self, plan: Plan) -> None:
        nodes = list(zip(plan.node_rows.tolist(), plan.delta.nodes, strict=True))
        without = [row for row, node in nodes if node.embedding is None]
        given = [(row, node.embedding) for row, node in nodes if node.embedding is not None]
        with self.vectors.changing() as change:
            change.remove(np.concatenate((plan.removed_nodes, np.array(without, dtype=np.int64))))
            if given:
                rows, vectors = zip(*given, strict=True)
                change.put(np.array(rows, dtype=np.int64), np.stack(vectors).astype(np.float32, copy=False))


def _vector_settings(config: MemoryConfig) -> VectorSettings:
    return {
        "exact_below": config.vectors.exact_below,
        "precision": config.vectors.precision,
        "tail": config.vectors.max_unlisted,
        "lists": config.vectors.lists,
        "probes": config.vectors.probes,
    }


def _put_texts(index: LexicalStore, rows: Rows, read: ReadTexts) -> None:
    for begin in range(0, rows.size, _INDEX_CHUNK):
        chunk = rows[begin : begin + _INDEX_CHUNK]
        put_texts(index, chunk, read(chunk))
