"""One namespace of a memory file at present: its graph index, and how it follows the file and is kept beside it."""

from __future__ import annotations

import json
import logging
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

import apsw
import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock
from neurogated.core.delta import GraphDelta, PendingTask
from neurogated.errors import InputError
from neurogated.storage.checkpoint.checkpointer import Checkpointer
from neurogated.storage.checkpoint.checkpoints import FORM_FOLDER, Checkpoints, FrozenIndex, Stamp, StateReplacedError
from neurogated.storage.index.graph.columns import Column
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.log.sqlite.block import Block
from neurogated.storage.log.sqlite.catch_up import GraphFollower, KeyedIndex
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.file import SqliteFile
from neurogated.storage.log.sqlite.loading import GraphLoader
from neurogated.storage.open_graphs import OpenGraphs, Uses
from neurogated.storage.resolve import Plan
from neurogated.storage.sqlite_graph import SqliteGraph, register_types

__all__ = ["SqlitePresent", "find_namespace"]

_log = logging.getLogger(__name__)

# How often, and after which time again, a thread that waits for the lock looks whether its holder writes.
_LOOKS, _LOOK_SECONDS = 40, 0.005

P = ParamSpec("P")
T = TypeVar("T")


class SqlitePresent(SqliteGraph):
    """A graph whose graph index follows the file, and is kept beside it in the background."""

    def __init__(
        self,
        file: SqliteFile,
        name: str,
        namespace: int,
        *,
        config: MemoryConfig | None,
        clock: Clock,
        open_graphs: OpenGraphs | None = None,
    ) -> None:
        super().__init__(file, name, namespace, config=config, clock=clock)
        self._own_graphs = OpenGraphs(self._config.MAX_OPEN_NAMESPACES) if open_graphs is None else None
        self._open_graphs = weakref.ref(self._own_graphs if open_graphs is None else open_graphs)
        self._searching = self._searches = Uses()
        self._kept = Checkpoints(file.path)
        # Until it is read, other threads have nothing to read meanwhile.
        self._waits = True
        # The innermost transaction that was under way when the graph index was made or last found right.
        self._block: Block | None = None
        self._frozen: weakref.ref[GraphIndex] | None = None
        self._frozen_of = ""
        self._trained_on = 0
        self._keeper = Checkpointer(
            self._kept,
            graph_lock=self._lock,
            freeze=_while_alive(self._freeze),
            adopt=_while_alive(self._adopt),
            is_current=_while_alive(self._is_current),
            least=self._config.KEEP_CHANGES,
        )
        self._load()

    def _check_vectors(self, delta: GraphDelta) -> None:
        """Refuse vectors that do not fit those of this graph, of its past and of the other namespaces."""
        super()._check_vectors(delta)
        given = next((node for node in delta.nodes if node.embedding is not None), None)
        if given is None or given.embedding is None or self._form.vectors.dimension is not None:
            return
        with self._file.reading() as connection:
            found = fetch(connection, "SELECT vector FROM vectors LIMIT 1")
        dimensions = {len(given.embedding), *(np.frombuffer(vector, "<f4").size for (vector,) in found)}
        if len(dimensions) > 1:
            raise InputError(
                f"with the embedding of node {given.id!r} this file would hold dimensions {sorted(dimensions)}, "
                "of its past or another namespace; use the embedder the memory was built with"
            )

    def _commit(self, plan: Plan, sequence: int) -> None:
        super()._commit(plan, sequence)
        self._keeper.note(plan.size, len(plan.delta.operators), self._size)

    @property
    def _size(self) -> int:
        """How many nodes and edges there are and were."""
        return len(self._node_keys) + len(self._edge_keys)

    def _require_open(self) -> None:
        self._renew()
        super()._require_open()
        self._note_open()

    def _note_open(self) -> None:
        """Let the graph count as used just now."""
        if (graphs := self._open_graphs()) is not None:
            in_transaction = self._file.connection.in_transaction
            graphs.use(self, is_first=graphs is self._own_graphs, in_transaction=in_transaction)

    def _note_closed(self) -> None:
        if (graphs := self._open_graphs()) is not None:
            graphs.discard(self)

    @property
    def is_unloaded(self) -> bool:
        """Whether the graph index was let go of, so that it is read on the next use; see `unload`."""
        return self._interrupted and not len(self._node_keys) and self._waits

    def unload(self) -> bool:
        """Let go of the graph index, which is read again on the next use.

        Returns:
            Whether it was let go of: it is not while a search is under way, or while a thread in the background is
            indexing or keeping it.
        """
        if self._searches:
            return False
        unkept = not self._file.read_only and self._form.vectors.trained_on != self._trained_on
        if unkept and self._form.made_texts is not None:
            self._keeper.keep(at_once=True)
        if self._keeper.busy or self._form.vectors.busy:
            return False
        self._form.close()
        with self._committing:
            self._form, self._interrupted, self._waits = GraphIndex(self._config), True, True
            self._node_keys, self._edge_keys = Column(np.int64), Column(np.int64)
            self._committed = self._now()
        self._note_closed()
        return True

    def _publish(self) -> None:
        """Let other threads read the present, unless it is that of a transaction or has to be read again."""
        if self._is_right() and not self._transaction.locked() and not self._file.read_only:
            # In this order: a thread that need not wait finds the graph.
            self._committed = self._now()
            self._waits = False

    def _renew(self) -> None:
        """Read the graph index from the file again where it is not right."""
        if not self._is_right():
            with self._lock:
                # Another thread may have been about to make it right.
                if not self._is_right():
                    self._load()

    def _is_right(self) -> bool:
        """Return whether the graph index shows what the file holds, or is closed.

        It does not where a write was interrupted, or where changes that it shows were taken back.
        """
        while (block := self._block) is not None and not block.under_way.locked():
            if not block.made:
                return self._closed
            self._block = block.outer
        return self._closed or not self._interrupted

    # Following the file

    def _load(self) -> None:
        """Make the graph index anew: from what is kept beside the file, and what the file has gained since.

        A graph that the file does not have is closed: it was dropped, or the transaction that made it was taken back.
        """
        self._generation, self._interrupted = "", True
        self._block = self._file.block
        while True:
            state = self._file.state()
            with self._file.reading() as connection:
                if not self._file.read_only and find_namespace(connection, self._name) != self._namespace:
                    self._note_closed()
                    if self._family.get(self._name) is self:
                        del self._family[self._name]
                    self._closed = True
                    return
                generation = _generation(connection)
                try:
                    keyed = self._load_kept(connection)
                except StateReplacedError as error:
                    _log.info("%s was replaced while it was read", error)
                    continue
                self._form, self._node_keys, self._edge_keys = keyed.form, keyed.node_keys, keyed.edge_keys
                kept = 0 if self._form.lacks_vectors else self._size
                self._follow(connection)
                self._keeper.owe(self._size - kept, self._size)
            break
        self._generation, self._state, self._interrupted = generation, state, False
        self._note_open()
        self._publish()

    def _load_kept(self, connection: apsw.Connection) -> KeyedIndex:
        """Return the form that is kept beside the file, an empty one if there is none."""
        # Forms name edge types, which must be known when they are read.
        register_types(connection)
        load_form = partial(GraphIndex.load, config=self._config)
        made_at = partial(_made_at, connection, self._namespace)
        keyed = self._kept.load(load_form, _derivation(connection), self._namespace, made_at)
        if keyed is None:
            return KeyedIndex(GraphIndex(self._config))
        self._trained_on = keyed.form.vectors.trained_on
        loader = GraphLoader(connection, self._namespace, {}, keyed.form.topology.sequence)
        loader.load_node_lifetimes(keyed.form.lifetimes, keyed.node_keys.values)
        loader.load_edge_lifetimes(keyed.form.lifetimes, keyed.edge_keys.values)
        loader.load_relations(keyed.form.relations, keyed.edge_keys.values)
        return keyed

    def _follow(self, connection: apsw.Connection) -> None:
        """Take in what the file has gained."""
        types = register_types(connection)
        keyed = KeyedIndex(self._form, self._node_keys, self._edge_keys)
        follower = GraphFollower(connection, self._namespace, types, lambda rows: self._records().nodes(rows))
        follower.follow(keyed)
        self._pending = _read_pending(connection, self._namespace)
        self._embedder = _read_embedder(connection)

    def _follow_others(self) -> None:
        """Take in what others have written since; see IsolatedStore."""
        state = self._file.state()
        if state == self._state or self._interrupted:
            return
        replaced = state[:-1] != self._state[:-1]
        with self._file.reading() as connection:
            generation, self._generation = self._generation, ""
            # Another file may be an older state of the same memory, that went on otherwise.
            if replaced or not self._namespace or _generation(connection) != generation:
                if self._file.read_only:
                    self._namespace = find_namespace(connection, self._name)
                self._load()
                # A writer is told that its graph was dropped.
                super()._require_open()
                return
            # Other threads wait, for indexes and views do not fit each other meanwhile. If it is interrupted, the
            # graph is read again.
            before, self._waits = self._size, True
            with self._committing:
                self._follow(connection)
            self._keeper.owe(self._size - before, self._size)
            self._generation = generation
        self._state = state
        if not self._file.read_only:
            self._committed, self._waits = self._now(), False

    def _acquire(self, *, latest: bool) -> bool:
        # What other processes wrote is to be seen, so this waits for a holder that does not write, but not for long.
        for _ in range(_LOOKS if latest else 0):
            if self._file.is_writing:
                break
            if self._lock.acquire(timeout=_LOOK_SECONDS):
                return True
        return super()._acquire(latest=latest)

    def _turn(self, patience: float | None) -> AbstractContextManager[object]:
        return self._file.writing(patience)

    def _known_embedder(self) -> tuple[str, int] | None:
        # Another namespace may have recorded it and been closed since.
        with self._file.reading() as connection:
            return _read_embedder(connection)

    # Keeping what is derived

    def _finish_keeping(self) -> None:
        """Wait until what was begun is kept, with the index of the vectors where that has taken its time.

        Not to be called with the lock held.
        """
        self._form.vectors.settle()
        # A memory whose texts were not needed is not read for this alone.
        if not self._file.read_only and self._form.made_texts is not None:
            self._keeper.keep(at_once=self._form.vectors.trained_on != self._trained_on)
        self._keeper.settle()

    def _freeze(self) -> FrozenIndex | None:
        """Return the graph index as it is now, None if it cannot be kept."""
        if self._closed or not self._is_right():
            return None
        with self._file.reading() as connection:
            at, derivation = _made_at(connection, self._namespace, self._sequence), _derivation(connection)
            generation = _generation(connection)
        # What another process erased, the index may still hold.
        if at is None or generation != self._generation:
            return None
        stamp = Stamp(derivation, self._namespace, self._sequence, at)
        self._frozen, self._frozen_of = weakref.ref(self._form), generation
        self._trained_on = self._form.vectors.trained_on
        frozen = self._form.freeze(self._records().nodes)
        return FrozenIndex(stamp, frozen, self._node_keys.values, self._edge_keys.values)

    def _is_current(self) -> bool:
        """Return whether what was frozen last is of the form that is in use, and nothing was erased since."""
        if self._frozen is None or self._frozen() is not self._form or self._closed:
            return False
        with self._file.reading() as connection:
            return self._frozen_of == _generation(connection)

    def _adopt(self, folder: Path) -> None:
        if self._is_current():
            self._form.adopt(folder / FORM_FOLDER)
            # What is in memory is let go of.
            self._publish()


def _while_alive(method: Callable[P, T]) -> Callable[P, T | None]:
    """Return a function that calls a method as long as its object is in use, and does not keep it in use."""
    reference = weakref.WeakMethod(method)

    def call(*args: P.args, **kwargs: P.kwargs) -> T | None:
        method = reference()
        return None if method is None else method(*args, **kwargs)

    return call


def find_namespace(connection: apsw.Connection, name: str) -> int:
    """Return the file's number of a namespace, 0 if there is none."""
    rows = fetch(connection, "SELECT namespace FROM namespaces WHERE name = ?", (name,))
    return int(rows[0][0]) if rows else 0


def _made_at(connection: apsw.Connection, namespace: int, sequence: int) -> int | None:
    """Return when a graph was last changed up to a delta, in microseconds; None where there is no such delta yet.

    Deltas that told of uses only are passed over, because the next one replaces them.
    """
    rows = fetch(
        connection,
        "SELECT at FROM deltas WHERE sequence <= :now AND namespace = :namespace AND changes IS NOT NULL "
        "AND :now <= (SELECT max(sequence) FROM deltas WHERE namespace = :namespace) ORDER BY sequence DESC LIMIT 1",
        {"now": sequence, "namespace": namespace},
    )
    return int(rows[0][0]) if rows else None


def _derivation(connection: apsw.Connection) -> str:
    """Return what changes when rows are erased from which something was derived."""
    rows = fetch(connection, "SELECT value FROM settings WHERE name IN ('identity', 'erasures') ORDER BY name DESC")
    return " ".join(str(value) for (value,) in rows)


def _generation(connection: apsw.Connection) -> str:
    """Return what changes when rows of the past are changed, so that whoever reads along must read anew."""
    rows = fetch(connection, "SELECT value FROM settings WHERE name IN ('identity', 'generation') ORDER BY name")
    return " ".join(str(value) for (value,) in rows)


def _read_embedder(connection: apsw.Connection) -> tuple[str, int] | None:
    settings = dict(fetch(connection, "SELECT name, value FROM settings"))
    return (settings["embedder"], int(settings["dimension"])) if "embedder" in settings else None


def _read_pending(connection: apsw.Connection, namespace: int) -> dict[PendingTask, None]:
    rows = fetch(connection, "SELECT kind, nodes FROM pending WHERE namespace = ? ORDER BY task", (namespace,))
    return {PendingTask(kind, tuple(json.loads(nodes))): None for kind, nodes in rows}
