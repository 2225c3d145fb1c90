"""`import(export(m))` is `m`."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from graph_store_kit.contract.base import plain
from graph_store_kit.contract.history import found_by, live_through
from neurogated import GraphDelta, GraphStore, MemoryConfig, MemoryNode, NeuroGraphMemory, compose
from neurogated.archive import export, importing
from neurogated.archive.manifest import ExportManifest, open_export
from neurogated.core.ports import GraphStorePort
from neurogated.errors import StorageError
from neurogated.testing import ManualClock
from tests.archive.stores import OpenStore

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
MICROSECOND = timedelta(microseconds=1)


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


@pytest.mark.parametrize("storage", ["memory", "sqlite"])
def test_a_whole_memory_answers_alike_after_its_move(storage: str, tmp_path: Path) -> None:
    clock = ManualClock()
    config = MemoryConfig(storage=storage, save_dir=str(tmp_path / "one"), embedding_name="hash")
    elsewhere = config.replace(save_dir=str(tmp_path / "two"))
    questions = ("Why was the field flooded?", "What was done about the valve?", "barley")
    with NeuroGraphMemory(config, parts=compose.build(config, clock)) as memory:
        ids = memory.add_document("The pump failed on Monday. Because of this, the field was flooded.", title="Log")
        memory.add_documents([{"title": "Seed", "text": "Barley was ordered."}, "The valve was replaced in the field."])
        memory.in_namespace("bob's; ../x").add_document("Bob sold the barley.")
        memory.recall(questions[0])
        clock.advance(timedelta(days=3))
        memory.feedback([*ids, *memory.recall(questions[1]).ids])
        memory.maintenance()
        memory.admin.export(tmp_path / "out", progress=False)
        with NeuroGraphMemory(elsewhere, parts=compose.build(elsewhere, clock)) as moved:
            assert isinstance(moved.store, GraphStore)
            _import(tmp_path / "out", moved.store)
            for one, other in (
                (memory, moved),
                (memory.in_namespace("bob's; ../x"), moved.in_namespace("bob's; ../x")),
            ):
                for question in questions:
                    before, after = one.recall(question), other.recall(question)
                    assert [(m.id, m.score, m.path) for m in before] == [(m.id, m.score, m.path) for m in after]
                for figure in ("nodes", "edges", "pending", "namespaces", "embedder"):
                    assert one.admin.stats()[figure] == other.admin.stats()[figure]


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
