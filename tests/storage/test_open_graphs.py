"""The least recently used namespaces are closed first, and a handle on one still works."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from graph_store_kit.reads import keyword_search, nearest
from neurogated import EdgeType, GraphDelta, MemoryConfig, MemoryEdge, MemoryNode, NeuroGraphMemory
from neurogated.config.groups import RuntimeSettings
from neurogated.storage.index.vectors.embedding_store import EmbeddingStore
from neurogated.storage.live_graph import OpenGraphs
from neurogated.storage.sqlite_store import SqliteStore

MOST = 3
NAMES = [f"user {number}" for number in range(9)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore.open(
        tmp_path / "memory.db", config=MemoryConfig(runtime=RuntimeSettings(max_open_namespaces=MOST))
    ) as opened:
        yield opened


def open_graphs(store: SqliteStore) -> OpenGraphs:
    graphs = store.graph.family.open_graphs()
    assert graphs is not None
    return graphs


def put(store: SqliteStore, name: str, number: int = 0) -> None:
    store.apply(GraphDelta(nodes=(MemoryNode(f"{name} {number}", f"heron of {name}", [1.0, float(number)]),)))


def texts(store: SqliteStore) -> list[str]:
    return [node.content for node in store.all_nodes()]


def test_no_more_than_the_bound_are_open_and_every_handle_goes_on_working(store: SqliteStore) -> None:
    spaces = {name: store.in_namespace(name) for name in NAMES}
    for _ in range(2):
        for name, space in spaces.items():
            put(space, name)
            put(space, name, 1)
            space.apply(GraphDelta(edges=(MemoryEdge(f"{name} 0", f"{name} 1", EdgeType.SEQ),)))
            assert len(open_graphs(store)) <= MOST
    for name, space in spaces.items():
        assert store.in_namespace(name) is space
        assert texts(space) == [f"heron of {name}"] * 2
        assert [edge.key.type for edge in space.all_edges()] == [EdgeType.SEQ]
        assert [found for found, _ in nearest(space, [1.0, 0.0], 1)] == [f"{name} 0"]
        assert len(keyword_search(space, "heron", 9)) == 2
        assert len(space.history()) == 6
        assert len(list(space.as_of(space.history()[1].sequence).all_nodes())) == 2
        assert len(open_graphs(store)) <= MOST
    assert store.check() == []


def test_a_view_and_a_past_outlive_the_closing_of_their_graph(store: SqliteStore) -> None:
    space = store.in_namespace("one")
    put(space, "one")
    put(space, "one", 1)
    view, past = space.view(), space.as_of(1)
    for name in NAMES:
        put(store.in_namespace(name), name)
    assert space.graph not in open_graphs(store)
    assert [found for found, _ in nearest(space, [1.0, 0.0], 9, view)] == ["one 0", "one 1"]
    for name in NAMES:
        texts(store.in_namespace(name))
    assert [node.id for node in past.all_nodes()] == ["one 0"]
    assert [found for found, _ in keyword_search(past, "heron", 9)] == ["one 0"]


def test_none_is_closed_within_a_transaction_and_all_are_taken_back_with_it(store: SqliteStore) -> None:
    spaces = {name: store.in_namespace(name) for name in NAMES}
    put(spaces[NAMES[0]], "before")
    with pytest.raises(ZeroDivisionError), store.transaction():  # noqa: PT012 - the block is under test
        for name, space in spaces.items():
            put(space, name)
        assert len(open_graphs(store)) > MOST
        raise ZeroDivisionError
    assert [len(texts(space)) for space in spaces.values()] == [1] + [0] * (len(NAMES) - 1)
    assert len(open_graphs(store)) <= MOST


def test_a_search_ends_though_its_graph_is_closed(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    space = store.in_namespace("one")
    put(space, "one")
    searching, closed = threading.Event(), threading.Event()
    search = EmbeddingStore.search_batch

    def wait(index: EmbeddingStore, *given: object) -> object:
        if threading.current_thread().name.startswith("searching"):
            searching.set()
            assert closed.wait(60)
        return search(index, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(EmbeddingStore, "search_batch", wait)
    with ThreadPoolExecutor(1, "searching") as pool:
        found = pool.submit(nearest, space, [1.0, 0.0], 1)
        assert searching.wait(60)
        for name in NAMES:
            put(store.in_namespace(name), name)
        assert space.graph not in open_graphs(store)
        closed.set()
        assert [name for name, _ in found.result(60)] == ["one 0"]


def test_threads_share_more_namespaces_than_may_be_open(store: SqliteStore) -> None:
    start = threading.Barrier(4)

    def work(seed: int) -> None:
        start.wait()
        for step in range(12):
            name = NAMES[(seed + step) % len(NAMES)]
            space = store.in_namespace(name)
            put(space, name, seed * 100 + step)
            view = space.view()
            assert len(nearest(space, [1.0, 0.0], 99, view)) == view.live_nodes().size
            assert len(keyword_search(space, "heron", 99, view)) == view.live_nodes().size

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work, seed) for seed in range(4)]:
            done.result(timeout=300)
    assert sum(len(texts(store.in_namespace(name))) for name in NAMES) == 48
    assert store.check() == []


# State that the handles of a memory share


def test_closing_a_memory_writes_accesses_of_all_namespaces(config: MemoryConfig) -> None:
    config = config.replace(runtime={"max_open_namespaces": MOST})
    with NeuroGraphMemory(config) as memory:
        for name in NAMES[:2]:
            memory.in_namespace(name).add_document("A heron.")
        before = {name: next(memory.in_namespace(name).store.all_nodes()).last_accessed for name in NAMES[:2]}
        for name in NAMES[:2]:
            assert len(memory.in_namespace(name).recall("heron")) == 1
            gc.collect()
    with NeuroGraphMemory(config) as memory:
        for name, moment in before.items():
            assert next(memory.in_namespace(name).store.all_nodes()).last_accessed > moment
