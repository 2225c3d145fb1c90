"""An export and its import: the same memory, and no damage that goes unseen."""

import dataclasses
import hashlib
import json
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_store_kit.contract.base import plain
from graph_store_kit.contract.history import found_by, live_through
from neurogated import Access, EdgeType, GraphDelta, GraphStore, MemoryConfig, MemoryEdge, MemoryNode, NeuroGraphMemory
from neurogated.archive import export, importing
from neurogated.archive.importing import (
    JOURNAL,
    MANIFEST,
    VECTORS,
    ExportManifest,
    FileSeal,
    check_files,
    manifest_bytes,
    open_export,
    read_manifest,
    replay,
)
from neurogated.core.delta import LATEST, Decay, JournalEntry, WeightChange
from neurogated.core.model import EdgeKey
from neurogated.core.ports import GraphStorePort
from neurogated.errors import CorruptMemoryError, DatasetError, NeurogatedError, StorageError
from neurogated.session.administration import import_memory, move_memory
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.testing import ManualClock
from tests.bolt_server import BoltServer
from tests.postgres_server import Postgres

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
    importing.import_memory(folder, open_export(folder), store)


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


def test_the_uses_of_an_expired_memory_are_exported(
    open_pair: tuple[OpenStore, OpenStore], tmp_path: Path, clock: ManualClock
) -> None:
    with open_pair[0](clock) as source, open_pair[1](clock) as target:
        node = MemoryNode("a", "apple", created_at=clock(), expires_at=clock() + timedelta(days=1))
        source.apply(GraphDelta(nodes=(node,), at=clock()))
        source.apply(GraphDelta(touch=Access.of(frozenset({"a"})), at=clock()))
        clock.advance(timedelta(days=2))
        _export(source, tmp_path / "export")
        _import(tmp_path / "export", target)
        assert target.get_node("a").uses == source.get_node("a").uses == 1


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


JOIN = EdgeKey("a", "b", EdgeType.SEQ)


def _edge(weight: float, clock: ManualClock) -> MemoryEdge:
    return MemoryEdge(*JOIN, weight, clock())


@pytest.fixture
def target(clock: ManualClock) -> GraphStore:
    """A graph whose edge has learned and whose nodes have a text of their own."""
    store = GraphStore(clock=clock)
    store.apply(GraphDelta(nodes=(MemoryNode("a", "ours"), MemoryNode("b", "ours")), edges=(_edge(0.9, clock),)))
    return store


@pytest.fixture
def source(clock: ManualClock) -> GraphStore:
    store = GraphStore(clock=clock)
    store.apply(GraphDelta(nodes=(MemoryNode("a", "theirs"), MemoryNode("b", "theirs")), edges=(_edge(0.2, clock),)))
    return store


def test_what_is_added_again_keeps_what_was_learned(source: GraphStore, target: GraphStore) -> None:
    source.add_node(MemoryNode("c", "new"))
    assert replay(source, target) == 2
    assert target.get_edge("a", "b").weight == pytest.approx(0.9)
    assert {node.id: node.content for node in target.all_nodes()} == {"a": "ours", "b": "ours", "c": "new"}


def test_later_changes_count(source: GraphStore, target: GraphStore) -> None:
    source.apply(GraphDelta(weights=(WeightChange(JOIN, 0.4),)))
    source.add_node(MemoryNode("b", "theirs, corrected"))
    replay(source, target)
    assert target.get_edge("a", "b").weight == pytest.approx(0.4)
    assert target.get_node("b").content == "theirs, corrected"


def test_what_is_removed_and_added_again_is_there(clock: ManualClock, target: GraphStore) -> None:
    source = GraphStore(clock=clock)
    source.apply(GraphDelta(nodes=(MemoryNode("a", "theirs"), MemoryNode("b", "theirs"))))
    source.remove_node("a")
    source.apply(GraphDelta(nodes=(MemoryNode("a", "theirs"),), edges=(_edge(0.2, clock),)))
    source.apply(GraphDelta(weights=(WeightChange(JOIN, 0.3),)))
    replay(source, target)
    assert target.get_node("a").content == "theirs"
    assert target.get_edge("a", "b").weight == pytest.approx(0.3)


def test_the_fading_of_one_graph_is_not_that_of_the_other(
    clock: ManualClock, source: GraphStore, target: GraphStore
) -> None:
    source.apply(GraphDelta(operators=(Decay(0.5, clock() + timedelta(days=1)),)))
    replay(source, target)
    assert target.get_edge("a", "b").weight == pytest.approx(0.9)


def _config(folder: Path, storage: str = "sqlite") -> MemoryConfig:
    return MemoryConfig(storage=storage, save_dir=str(folder), embedding_name="hash")


def _told(config: MemoryConfig) -> list[object]:
    """Return everything that a memory tells of its graphs."""
    told: list[object] = []
    with NeuroGraphMemory(config.replace(read_only=True)) as memory:
        for name in memory.admin.namespaces():
            store = memory.in_namespace(name).store
            told += [name, list(store.all_nodes()), list(store.all_edges()), store.pending()]
            told += [
                [entry.delta for entry in store.journal()],
                list(store.as_of(store.history()[0].sequence).all_nodes()),
            ]
        told.append([(one.node.id, one.score) for one in memory.recall("Where does the heron stand?")])
    return told


@pytest.fixture(params=["postgres", "bolt_server"])
def url(request: pytest.FixtureRequest) -> str:
    """Return the address of a new memory in a database."""
    server: Postgres | BoltServer = request.getfixturevalue(request.param)
    return server.database() if isinstance(server, Postgres) else server.url()


def test_a_memory_goes_to_a_database_and_comes_back(url: str, tmp_path: Path) -> None:
    first, database, last = _config(tmp_path / "a"), _config(tmp_path / "a", url), _config(tmp_path / "b")
    with NeuroGraphMemory(first) as memory:
        memory.add(["The heron stands on a stone.", "Ana lives in Lyon."])
        memory.facts.add("Ana", "city", "Lyon")
        memory.facts.add("Ana", "city", "York")
        memory.in_namespace("tenant").add("A stone fell.")
        memory.delete(memory.add("A slip."))
    move_memory(first, database.storage)
    with pytest.raises(StorageError):
        move_memory(first, database.storage)
    move_memory(database.replace(save_dir=last.save_dir), "sqlite")
    assert _told(first) == _told(database) == _told(last)


FILES = (MANIFEST, JOURNAL, VECTORS)


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """Return an export of two namespaces."""
    store = GraphStore()
    store.bind_embedder("model", 2)
    for graph in (store, store.in_namespace("bob")):
        graph.apply(
            GraphDelta(
                nodes=(MemoryNode("a", "one 井", [1.0, 0.5]), MemoryNode("b", "two", [0.3, 0.5])),
                edges=(MemoryEdge("a", "b", EdgeType.SEQ, 0.7),),
                reason="first",
            )
        )
        graph.add_node(MemoryNode("c", "three"))
    stores = {name: store.in_namespace(name) for name in store.namespaces()}
    export.export_memory(stores, store.embedder, tmp_path / "out", made_by="test")
    return tmp_path / "out"


def _refused(folder: Path) -> NeurogatedError:
    """Import, which must fail, and return the error. Afterwards the store must be as empty as before."""
    store = GraphStore()
    with pytest.raises(NeurogatedError) as raised:
        importing.import_memory(folder, importing.open_export(folder), store)
    assert store.namespaces() == ["default"]
    assert store.embedder is None
    assert not list(store.journal())
    assert not len(store)
    return raised.value


def _reseal(folder: Path) -> None:
    """Write a manifest that matches the current files, like a user who edits an export by hand."""
    manifest = read_manifest(folder)
    files = {name: _seal(folder / name) for name in (JOURNAL, VECTORS)}
    (folder / MANIFEST).write_bytes(manifest_bytes(dataclasses.replace(manifest, files=files)))


def _seal(path: Path) -> FileSeal:
    return FileSeal(path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_found_wherever_it_is(exported: Path, name: str) -> None:
    path = exported / name
    whole, chance = path.read_bytes(), random.Random(name)
    for offset in chance.sample(range(len(whole)), min(300, len(whole))):
        damaged = bytearray(whole)
        damaged[offset] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(StorageError) as raised:
            importing.open_export(exported)
        assert str(path if isinstance(raised.value, CorruptMemoryError) else exported) in str(raised.value)
    path.write_bytes(whole)
    check_files(exported, read_manifest(exported))


@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_short_or_grown_or_gone_is_found(exported: Path, name: str) -> None:
    path = exported / name
    whole = path.read_bytes()
    for length in random.Random(name).sample(range(len(whole)), min(50, len(whole))):
        path.write_bytes(whole[:length])
        error = _refused(exported)
        assert isinstance(error, CorruptMemoryError)
        assert name in str(error)
    path.write_bytes(whole + b"\n")
    assert isinstance(_refused(exported), CorruptMemoryError)
    path.unlink()
    assert name in str(_refused(exported))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("embedder",), "hash"),
        (("edge_types",), 7),
        (("namespaces", 0), []),
        (("namespaces", 0, "unknown"), 1),
        (("files",), []),
    ],
)
def test_a_manifest_of_another_form_is_refused(exported: Path, path: tuple[str | int, ...], value: object) -> None:
    values = json.loads((exported / MANIFEST).read_text("utf-8"))
    del values["sha256"]
    _set(*path, to=value)(values)
    values["sha256"] = importing._checksum(values)
    (exported / MANIFEST).write_bytes(importing._dump(values))
    assert isinstance(_refused(exported), CorruptMemoryError)


def _set(*path: str | int, to: object) -> Callable[[dict[str, object]], None]:
    def change(line: dict[str, object]) -> None:
        place: object = line
        for step in path[:-1]:
            place = place[step]  # type: ignore[index]
        place[path[-1]] = to  # type: ignore[index]

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("at", to="yesterday"), "not a time in microseconds"),
        (_set("at", to=True), "not a time in microseconds"),
        (_set("at", to=10**30), "line 3"),
        (_set("namespace", to="carol"), "carol"),
        (_set("namespace", to=None), "line 3"),
        (_set("colour", to="red"), "unknown fields colour"),
        (_set("nodes", 0, "vector", to=2), "no vector 2; the namespace has 2"),
        (_set("nodes", 0, "vector", to=-1), "no vector -1"),
        (_set("nodes", 0, "vector", to="0"), "no vector '0'"),
        (_set("nodes", 0, "content", to=7), "line 3"),
        (_set("nodes", 0, "id", to=""), "empty"),
        (_set("nodes", 0, "base_energy", to=7), "between 0 and 1"),
        (_set("nodes", 0, to="a"), "line 3"),
        (_set("edges", 0, "type", to="hatred"), "unknown edge type 'hatred'"),
        (_set("edges", 0, "target", to="zzz"), "'zzz', which does not exist"),
        (_set("nodes", 0, "kind", to="conflict"), "records no conflict"),
        (_set("removed_nodes", to=["zzz"]), "zzz"),
        (_set("operators", to=[{"kind": "growth"}]), "'growth'"),
    ],
)
def test_a_malformed_line_is_named(exported: Path, change: Callable[[dict[str, object]], None], message: str) -> None:
    lines = (exported / JOURNAL).read_text("utf-8").splitlines()
    values = json.loads(lines[2])
    change(values)
    lines[2] = json.dumps(values)
    (exported / JOURNAL).write_text("\n".join(lines), encoding="utf-8")
    _reseal(exported)
    error = _refused(exported)
    assert isinstance(error, DatasetError)
    assert message in str(error)
    assert f"{exported / JOURNAL}, line 3:" in str(error)


def test_a_line_that_is_missing_is_counted(exported: Path) -> None:
    lines = (exported / JOURNAL).read_bytes().splitlines(keepends=True)
    (exported / JOURNAL).write_bytes(b"".join(lines[:-1]))
    _reseal(exported)
    assert isinstance(_refused(exported), DatasetError)


@pytest.mark.parametrize("there", ["folder", "file", "dangling link"])
def test_an_export_never_replaces_a_file(tmp_path: Path, there: str) -> None:
    target = tmp_path / "out"
    if there == "folder":
        target.mkdir()
    elif there == "file":
        target.write_text("mine")
    else:
        target.symlink_to(tmp_path / "nowhere")
    with pytest.raises(StorageError, match="out already exists; choose another name"):
        export.export_memory({"default": GraphStore()}, None, target, made_by="test")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_export_that_fails_leaves_nothing(tmp_path: Path) -> None:
    class Lossy(GraphStore):
        def journal(self, after: int = 0, up_to: int = LATEST, *, about: str | None = None) -> Iterator[JournalEntry]:
            return (entry for entry in super().journal(after, up_to, about=about) if entry.sequence > 1)

    store = Lossy()
    for name in "ab":
        store.add_node(MemoryNode(name, name))
    with pytest.raises(StorageError):
        export.export_memory({"default": store}, None, tmp_path / "out", made_by="test")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError):
        export.export_memory({"default": GraphStore()}, None, tmp_path / "file" / "out", made_by="test")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


_KILLED_EXPORT = """
import os, signal, sys
from pathlib import Path
from neurogated import GraphStore, MemoryNode
from neurogated.archive import export

def killing(items, total):
    for count, item in enumerate(items):
        if count == total // 2:
            os.kill(os.getpid(), signal.SIGKILL)
        yield item

store = GraphStore()
for number in range(40):
    store.add_node(MemoryNode(str(number), "text " * 100, [float(number)]))
export.export_memory({"default": store}, None, Path(sys.argv[1]), made_by="test", progress=killing)
"""


def test_a_killed_export_leaves_nothing_that_looks_like_one(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _KILLED_EXPORT, str(tmp_path / "out")], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".out.")
    assert left.name.endswith(".partial")
    assert "is not an export" in str(_refused(left))
    shutil.rmtree(left)


_KILLED_IMPORT = """
import os, signal, sys
from neurogated import MemoryConfig
from neurogated.session import administration

def killing(items, what, unit, *, total=None, progress=None):
    for count, item in enumerate(items):
        if count == int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)
        yield item

administration.show_progress = killing
administration.import_memory(MemoryConfig(save_dir=sys.argv[1], embedding_name="hash"), sys.argv[2])
"""


@pytest.mark.parametrize("storage", ["sqlite"])
@pytest.mark.parametrize("lines", [1, 3])
def test_a_killed_import_leaves_nothing_and_can_be_done_again(tmp_path: Path, storage: str, lines: int) -> None:
    config = MemoryConfig(storage=storage, save_dir=str(tmp_path / "one"), embedding_name="hash")
    elsewhere = config.replace(save_dir=str(tmp_path / "two"))
    with NeuroGraphMemory(config) as memory:
        for text in ("The pump failed.", "The field was flooded.", "The valve was replaced.", "Barley came."):
            memory.add_document(text)
        stores = {"default": memory.store}
        export.export_memory(stores, memory.store.embedder, tmp_path / "out", made_by="test")
        ids = memory.recall("pump").ids
    words = [sys.executable, "-c", _KILLED_IMPORT, elsewhere.save_dir, str(tmp_path / "out"), str(lines)]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    with NeuroGraphMemory(elsewhere) as memory:
        assert memory.admin.stats()["nodes"] == 0
        assert memory.history.list() == []
    import_memory(elsewhere, tmp_path / "out")
    with NeuroGraphMemory(elsewhere) as memory:
        assert memory.recall("pump").ids == ids
