"""`import(export(m))` is `m`."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from graph_store_kit.contract.base import plain
from graph_store_kit.contract.history import found_by, live_through
from neurogated import GraphDelta, GraphStore, MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.archive import export, importing
from neurogated.archive.manifest import ExportManifest, open_export
from neurogated.core.ports import GraphStorePort
from neurogated.errors import StorageError
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.testing import ManualClock

MICROSECOND = timedelta(microseconds=1)
OpenStore = Callable[[ManualClock], GraphStore]


@pytest.fixture(params=["memory to memory", "memory to sqlite", "sqlite to memory", "sqlite to sqlite"])
def open_pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[OpenStore, OpenStore]:
    """Return two functions: one opens new stores to export, the other new stores to import into."""

    def stores(kind: str) -> OpenStore:
        def make(clock: ManualClock) -> GraphStore:
            if kind == "memory":
                return GraphStore(clock=clock)
            return SqliteStore.open(tmp_path_factory.mktemp("store") / "graph.db", clock=clock)

        return make

    source, target = map(stores, str(request.param).split(" to "))
    return source, target


def _export(store: GraphStore, folder: Path) -> ExportManifest:
    graphs: dict[str, GraphStorePort] = {name: store.in_namespace(name) for name in store.namespaces()}
    return export.export_memory(graphs, store.embedder, folder, made_by="test")


def _import(folder: Path, store: GraphStore) -> None:
    importing.import_memory(open_export(folder), store)


def _assert_alike(one: GraphStore, other: GraphStore) -> None:
    assert list(one.all_nodes()) == list(other.all_nodes())
    assert list(one.all_edges()) == list(other.all_edges())
    assert one.pending() == other.pending()
    story = [
        [(entry.at, entry.reason, dict(entry.changes), entry.operators) for entry in store.history()]
        for store in (one, other)
    ]
    assert story[0] == story[1]
    assert found_by(one) == found_by(other)
    times = sorted({entry.delta.at for entry in one.journal()})
    for moment in (t + step for t in times for step in (-MICROSECOND, 0 * MICROSECOND)):
        then, then_too = one.as_of(moment), other.as_of(moment)
        assert [plain(node) for node in then.all_nodes()] == [plain(node) for node in then_too.all_nodes()]
        # Uses have no past.
        assert [replace(edge, last_activated=edge.created_at) for edge in then.all_edges()] == [
            replace(edge, last_activated=edge.created_at) for edge in then_too.all_edges()
        ]


@given(
    random=st.randoms(use_true_random=False),
    name=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_imported_memory_is_the_exported_one(
    open_pair: tuple[OpenStore, OpenStore], tmp_path_factory: pytest.TempPathFactory, random: Random, name: str
) -> None:
    clock, folder = ManualClock(), tmp_path_factory.mktemp("export") / "out"
    with open_pair[0](clock) as source, open_pair[1](clock) as target:
        for namespace in ("default", name):
            live_through(source.in_namespace(namespace), random, clock, random.randrange(9))
        manifest = _export(source, folder)
        _import(folder, target)
        assert target.embedder == source.embedder == manifest.embedder
        assert sorted(target.namespaces()) == sorted(source.namespaces())
        for namespace in source.namespaces():
            _assert_alike(source.in_namespace(namespace), target.in_namespace(namespace))


@settings(max_examples=8)
@given(random=st.randoms(use_true_random=False))
def test_an_export_of_an_import_is_the_same_file_for_file(
    tmp_path_factory: pytest.TempPathFactory, random: Random
) -> None:
    clock, folder = ManualClock(), tmp_path_factory.mktemp("export")
    first, second = GraphStore(clock=clock), GraphStore(clock=clock)
    live_through(first, random, clock, 8)
    _export(first, folder / "first")
    _import(folder / "first", second)
    _export(second, folder / "second")
    for path in (folder / "first").iterdir():
        assert path.read_bytes() == (folder / "second" / path.name).read_bytes()


def test_writes_during_an_export_are_either_in_it_or_not(tmp_path: Path) -> None:
    store = GraphStore()
    for name in "abc":
        store.add_node(MemoryNode(name, name))

    def busy(items, total):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
        for item in items:
            store.add_node(MemoryNode(f"later {len(store)}", "x"))
            store.apply(GraphDelta(removed_nodes=(f"later {len(store) - 1}",)))
            yield item
        assert total == 3

    export.export_memory({"default": store}, None, tmp_path / "out", made_by="test", progress=busy)
    target = GraphStore()
    _import(tmp_path / "out", target)
    assert [node.id for node in target.all_nodes()] == ["a", "b", "c"]


def test_nothing_is_imported_into_a_history(tmp_path: Path) -> None:
    source, target = GraphStore(), GraphStore()
    source.in_namespace("bob").add_node(MemoryNode("a", "one"))
    _export(source, tmp_path / "out")
    target.in_namespace("bob").add_node(MemoryNode("b", "two"))
    target.in_namespace("bob").remove_node("b")
    target.add_node(MemoryNode("c", "three"))
    with pytest.raises(StorageError):
        _import(tmp_path / "out", target)
    target = GraphStore()
    target.in_namespace("bob").add_node(MemoryNode("b", "two"))
    target.in_namespace("bob").remove_node("b")
    with pytest.raises(StorageError):
        _import(tmp_path / "out", target)
    target.drop_namespace("bob")
    _import(tmp_path / "out", target)
    assert [node.id for node in target.in_namespace("bob").all_nodes()] == ["a"]


A_WHILE = 0.3


@pytest.mark.parametrize("storage", ["memory", "sqlite"])
def test_namespaces_are_exported_as_they_were_at_one_moment(
    config: MemoryConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, storage: str
) -> None:
    survey, threads = export._survey, []
    with NeuroGraphMemory(config.replace(storage=storage)) as memory:
        store: Any = memory.store
        other = store.in_namespace("other")

        def both() -> None:
            with store.transaction():
                for graph in (store, other):
                    graph.add_node(MemoryNode(f"n{len(graph)}", "one of a pair"))

        def survey_then_write(*arguments):  # type: ignore[no-untyped-def] # noqa: ANN002, ANN202
            found = survey(*arguments)
            threads.append(threading.Thread(target=both))
            threads[-1].start()
            # A thread that had to wait for the export continues afterwards.
            threads[-1].join(A_WHILE)
            return found

        both()
        with monkeypatch.context() as patch:
            patch.setattr(export, "_survey", survey_then_write)
            manifest = memory.admin.export(tmp_path / "export", progress=False)
        for thread in threads:
            thread.join()
        assert len(store) == len(other) == 3
    assert [counts.nodes for counts in manifest.namespaces] == [1, 1]
