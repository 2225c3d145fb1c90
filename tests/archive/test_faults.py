"""A damaged, truncated, foreign or malformed export raises an error and imports nothing."""

import dataclasses
import hashlib
import json
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from neurogated import EdgeType, GraphStore, MemoryConfig, MemoryEdge, MemoryNode, NeuroGraphMemory
from neurogated.archive import export, importing
from neurogated.archive.importing import (
    JOURNAL,
    MANIFEST,
    VECTORS,
    FileSeal,
    check_files,
    manifest_bytes,
    read_manifest,
)
from neurogated.core.delta import LATEST, GraphDelta, JournalEntry
from neurogated.errors import CorruptMemoryError, DatasetError, NeurogatedError, StorageError
from neurogated.session.administration import import_memory

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
