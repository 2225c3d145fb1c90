"""The state that a thread or a process reads while another writes, compacts or is in a transaction."""

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from graph_store_kit.reads import keyword_search, nearest
from neurogated import EdgeType, GraphDelta, GraphStore, MemoryConfig, MemoryEdge, MemoryNode
from neurogated.config.groups import RuntimeSettings
from neurogated.core.delta import PendingTask
from neurogated.storage.index.vectors.embedding_store import EmbeddingStore
from neurogated.storage.log.sqlite import graph_follower, rows
from neurogated.storage.log.sqlite.rows import SqliteRecords
from neurogated.storage.sqlite_store import SqliteStore

PATIENCE = 20
SELDOM = MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=10**9))


def _vector(place: int) -> NDArray[np.float32]:
    vector: NDArray[np.float32] = np.eye(4, dtype=np.float32)[place]
    return vector


def _fill(store: GraphStore) -> None:
    nodes = [MemoryNode(id=name, content=f"{name} heron", embedding=_vector(i)) for i, name in enumerate("abc")]
    edges = [MemoryEdge("a", "b", EdgeType.SEQ, 0.5), MemoryEdge("a", "c", EdgeType.SEQ, 0.5)]
    store.apply(GraphDelta(nodes=tuple(nodes), edges=tuple(edges), queued=(PendingTask("cause", ("a",)),)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with SqliteStore.open(tmp_path / "memory.db", config=SELDOM) as store:
        _fill(store)
    return tmp_path / "memory.db"


READS: dict[str, Callable[[GraphStore], object]] = {
    "nodes": lambda store: [node.id for node in store.all_nodes()],
    "edges": lambda store: [edge.target_id for edge in store.all_edges()],
    "neighbours": lambda store: [name for name, _ in store.get_neighbors("a")],
    "vectors": lambda store: [node.id for node, _ in store.vector_search(_vector(1), 3)],
    "keywords": lambda store: [name for name, _ in keyword_search(store, "heron", 3)],
    "past": lambda store: [node.id for node in store.as_of(1).all_nodes()],
    "keywords of the past": lambda store: [name for name, _ in keyword_search(store.as_of(1), "heron", 3)],
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_every_read_bears_a_compaction_just_before_records_are_read(
    path: Path, read: Callable[[GraphStore], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    select = SqliteRecords._select
    with SqliteStore.open(path, config=SELDOM) as writer, SqliteStore.open(path, read_only=True) as reader:

        def erased_first(self: SqliteRecords, *arguments: Any) -> list[list[Any]]:  # noqa: ANN401
            monkeypatch.setattr(SqliteRecords, "_select", select)
            if not self.file.connection.in_transaction:
                writer.remove_node("b")
                writer.compact()
            return select(self, *arguments)

        monkeypatch.setattr(SqliteRecords, "_select", erased_first)
        read(reader)
        expected = read(writer) if writer.has_node("b") is False else read(reader)
        assert read(reader) == expected


def test_a_search_finds_a_node_whose_vector_is_being_replaced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    halfway, searched = threading.Event(), threading.Event()
    vectors_of, search_batch = rows.vectors_of, EmbeddingStore.search_batch

    def pausing(*arguments: Any) -> Any:  # noqa: ANN401
        halfway.set()
        assert searched.wait(PATIENCE)
        return vectors_of(*arguments)

    with SqliteStore.open(path, config=SELDOM) as writer, SqliteStore.open(path, read_only=True) as reader:
        view = reader.view()
        writer.add_node(MemoryNode(id="a", content="a heron", embedding=_vector(0) + _vector(1)))
        following = threading.Thread(target=reader.view)

        def beside(*arguments: Any) -> Any:  # noqa: ANN401
            following.start()
            assert halfway.wait(PATIENCE)
            try:
                return search_batch(*arguments)
            finally:
                searched.set()

        with monkeypatch.context() as patch:
            patch.setattr(graph_follower, "vectors_of", pausing)
            patch.setattr(EmbeddingStore, "search_batch", beside)
            found = nearest(reader, _vector(0), 3, view)
            following.join(PATIENCE)
        assert [name for name, _ in found] == ["a", "b", "c"]
        assert dict(nearest(reader, _vector(0), 3))["a"] == pytest.approx(0.5**0.5)


def _seen(store: GraphStore) -> list[object]:
    """Return all readable state of a graph."""
    view = store.view()
    rows = view.live_nodes()
    return [
        view.sequence,
        [node.content for node in store.get_nodes([view.ids[row] for row in rows.tolist()])],
        nearest(store, _vector(1), 9),
        store.snapshot(view).similarities(_vector(1), rows).tolist(),
        keyword_search(store, "heron", 9),
        keyword_search(store, "egret", 9),
        store.snapshot(view).keyword_scores("heron egret", rows).tolist(),
        [list(map(str, store.all_nodes())), list(store.all_edges()), list(store.get_neighbors("a"))],
        store.pending(),
        [store.has_node(name) for name in "abcd"],
        len(store),
    ]


class _Undone(Exception):  # noqa: N818 - nothing went wrong
    pass


@pytest.mark.parametrize("kept", [True, False], ids=["committed", "rolled back"])
@pytest.mark.parametrize("asked", [True, False], ids=["texts indexed", "texts not indexed"])
def test_a_thread_reads_committed_state_while_another_is_in_a_transaction(
    store: GraphStore, *, kept: bool, asked: bool
) -> None:
    _fill(store)
    if not asked and isinstance(store, SqliteStore):
        store.graph._load()
    before = _seen(store) if asked else []
    changed, read = threading.Event(), threading.Event()
    own: list[object] = []

    def write() -> None:
        with store.transaction():
            changes = [MemoryNode(id=name, content=f"{name} egret", embedding=_vector(2)) for name in "ad"]
            store.apply(GraphDelta(nodes=tuple(changes), removed_nodes=("b",), queued=(PendingTask("cause", ("d",)),)))
            store.apply(GraphDelta(edges=(MemoryEdge("a", "d", EdgeType.SEQ),)))
            own.extend(_seen(store))
            changed.set()
            assert read.wait(PATIENCE)
            if not kept:
                raise _Undone

    def try_to_write() -> None:
        with suppress(_Undone):
            write()

    writer = threading.Thread(target=try_to_write)
    writer.start()
    assert changed.wait(PATIENCE)
    within = _seen(store)
    read.set()
    writer.join(PATIENCE)
    after = _seen(store)
    assert own[0] == 3
    assert own[-2] == [True, False, True, True]
    assert within[0] == 1
    assert within[-2] == [True, True, True, False]
    if before:
        assert within == before
    assert after == (own if kept else within)
