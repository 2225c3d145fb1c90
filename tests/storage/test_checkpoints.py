"""A checkpoint opens to the same memory, may be lost or damaged at any time, and holds nothing that was erased."""

import logging
import shutil
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from graph_store_kit.reads import keyword_search
from neurogated import Access, Decay, EdgeKey, EdgeType, GraphDelta, MemoryConfig, MemoryEdge, MemoryNode, WeightChange
from neurogated.config.groups import RuntimeSettings
from neurogated.core.ports import GraphStorePort
from neurogated.errors import InputError, StorageError
from neurogated.storage.checkpoint import Checkpoints
from neurogated.storage.index.vectors.embedding_store import EXACT_BELOW
from neurogated.storage.index.vectors.state import Codes
from neurogated.storage.log.sqlite.sqlite_log import FileFollower
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.testing import ManualClock
from tests.durability.contents import everything, fill

OFTEN = MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=1))
NEVER = MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=10**9))
CHECKED = 5
"""One damaged memory in so many is compared with its journal."""


def _index(path: Path) -> Path:
    return path.with_suffix(".index")


def _notes(path: Path) -> list[Path]:
    return sorted(_index(path).rglob("kept.json"))


def _kept(path: Path, clock: ManualClock) -> list[object]:
    """Create a memory with a checkpoint of all its content, and return that content."""
    with SqliteStore.open(path, clock=clock, config=OFTEN) as store:
        fill(store, clock, nodes=12)
        said = everything(store)
    assert _notes(path), "nothing was kept"
    return said


def _change(store: GraphStorePort, clock: ManualClock) -> None:
    """Make a change of every kind."""
    clock.advance(timedelta(days=3))
    edge = MemoryEdge("n1", "n0", EdgeType.ASSOC, 0.7, created_at=clock())
    store.apply(GraphDelta(nodes=(MemoryNode(id="new", content="apple afresh"),), edges=(edge,), at=clock()))
    store.apply(GraphDelta(weights=(WeightChange(EdgeKey("n3", "n2", EdgeType.SEQ), 0.8),), at=clock()))
    store.apply(GraphDelta(operators=(Decay(0.6, clock() - timedelta(days=1), 0.45),), at=clock()))
    store.apply(GraphDelta(touch=Access.of(frozenset({"n5"}), frozenset({edge.key})), at=clock()))
    store.apply(GraphDelta(removed_nodes=("n7",), removed_edges=(EdgeKey("n9", "n8", EdgeType.SEQ),), at=clock()))
    vector = np.full(1100, 2, dtype=np.float32)
    later = clock() + timedelta(days=1)
    store.apply(GraphDelta(nodes=(MemoryNode(id="n2", content="said afresh", embedding=vector, expires_at=later),)))
    store.apply(GraphDelta(nodes=(MemoryNode(id="n10", content="without a vector"),)))


def test_a_memory_opened_from_its_kept_indexes_is_the_same(path: Path, clock: ManualClock) -> None:
    said = _kept(path, clock)
    with SqliteStore.open(path, clock=clock, config=NEVER) as store:
        assert store.view().layers[0].directions[0].targets.flags.writeable is False, "the kept indexes were not read"
        assert everything(store) == said
        assert store.check() == []
    shutil.rmtree(_index(path))
    with SqliteStore.open(path, clock=clock, config=NEVER) as store:
        assert everything(store) == said


def test_a_reader_opens_from_the_kept_indexes_and_follows(path: Path, clock: ManualClock) -> None:
    _kept(path, clock)
    with (
        SqliteStore.open(path, clock=clock, config=NEVER) as writer,
        SqliteStore.open(path, clock=clock, read_only=True) as reader,
    ):
        assert everything(reader) == everything(writer)
        _change(writer, clock)
        assert everything(reader) == everything(writer)
        writer.compact()
        assert everything(reader) == everything(writer)


def _flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


@pytest.mark.parametrize("damage", [_flip, _cut, Path.unlink])
def test_damage_to_a_checkpoint_is_noticed_and_harms_nothing(
    path: Path, clock: ManualClock, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    said = _kept(path, clock)
    files = [file for file in sorted(_index(path).rglob("*")) if file.is_file() and file.stat().st_size]
    assert len(files) > len(_notes(path)) * 10
    contents = {file: file.read_bytes() for file in files}
    for place, file in enumerate(files):
        damage(file)
        caplog.clear()
        with caplog.at_level(logging.WARNING), SqliteStore.open(path, clock=clock, read_only=True) as store:
            for name in store.namespaces():
                store.in_namespace(name)
            if file.name != "kept.json" or damage is _cut:
                assert "cannot be used" in caplog.text, file
            assert store.embedder == said[0]
            assert list(store.all_edges()) == said[5][2]  # type: ignore[index]
            # If any part of an index is damaged, all graphs are rebuilt from the file.
            assert place % CHECKED or store.check() == []
        file.write_bytes(contents[file])
        assert {one: one.read_bytes() for one in files} == contents


def test_a_place_that_cannot_be_written_to_costs_time_and_nothing_else(
    path: Path, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    _index(path).write_text("in the way")
    with caplog.at_level(logging.WARNING), SqliteStore.open(path, clock=clock, config=OFTEN) as store:
        fill(store, clock, nodes=8)
        said = everything(store)
    assert "could not be written" in caplog.text
    with SqliteStore.open(path, clock=clock) as store:
        assert everything(store) == said


def _ask_the_past(store: SqliteStore) -> None:
    """Search for words of past versions only, which a compacted index no longer lists."""
    store.compact()
    past = store.as_of(store.view().sequence - 1)
    assert keyword_search(past, "zebra", 3)
    assert past.get_node("striped").content == "zebra"


def _roll_back(store: SqliteStore) -> None:
    with pytest.raises(ZeroDivisionError), store.transaction():  # noqa: PT012 - the block fails
        store.add_node(MemoryNode(id="okapi", content="okapi"))
        assert keyword_search(store, "okapi", 3)
        raise ZeroDivisionError


def _refuse(store: SqliteStore) -> None:
    nodes = (MemoryNode(id="okapi", content="okapi"),)
    with pytest.raises(InputError):
        store.apply(GraphDelta(nodes=nodes, edges=(MemoryEdge("okapi", "nowhere", EdgeType.SEQ),)))


def _read_along(store: SqliteStore) -> None:
    with SqliteStore.open(store.engine.path, read_only=True) as reader:
        assert keyword_search(reader.as_of(reader.view().sequence - 1), "zebra", 3)


@pytest.mark.parametrize("happens", [_ask_the_past, _roll_back, _refuse, _read_along])
def test_checkpoints_are_used_after_any_history(
    path: Path, caplog: pytest.LogCaptureFixture, happens: Callable[[SqliteStore], None]
) -> None:
    with SqliteStore.open(path, config=OFTEN) as store:
        store.apply(GraphDelta(nodes=(MemoryNode(id="a", content="apple"), MemoryNode(id="b", content="pear"))))
        store.add_edge("a", "b", EdgeType.SEQ)
        store.add_node(MemoryNode(id="striped", content="zebra"))
        store.add_node(MemoryNode(id="striped", content="horse"))
    # This state is built from the file, so it lists only the words of present nodes.
    shutil.rmtree(_index(path))
    with SqliteStore.open(path, config=OFTEN) as store:
        assert keyword_search(store, "horse", 3)
        happens(store)
    assert _notes(path), "nothing was kept"
    with SqliteStore.open(path, config=OFTEN) as store:
        assert store.view().layers[0].directions[0].targets.flags.writeable is False, "the kept indexes were not read"
        assert store.check() == []
    assert caplog.messages == []


def test_codes_of_vectors_that_a_checkpoint_lacks_are_kept_when_the_memory_is_closed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, plain = threading.Event(), Codes.trained

    def late(*arguments: Any) -> Any:  # noqa: ANN401
        written.wait()
        return plain(*arguments)

    monkeypatch.setattr(Codes, "trained", late)
    vectors = np.random.default_rng(3).standard_normal((EXACT_BELOW + 1, 8)).astype(np.float32)
    with SqliteStore.open(path) as store:
        keyword_search(store, "apple", 1)
        store.apply(GraphDelta(nodes=tuple(MemoryNode(f"n{row}", "", one) for row, one in enumerate(vectors))))
        cast("FileFollower", store.graph.follower).checkpointer.wait()
        written.set()
        assert _notes(path), "the checkpoint had to wait for the codes"
    with SqliteStore.open(path, read_only=True) as reader:
        assert reader.graph.latest().form.vectors.indexed == EXACT_BELOW + 1


# Erasures, restored histories, dropped namespaces, damage and foreign files


def _node(number: int) -> MemoryNode:
    vector = np.eye(8, dtype=np.float32)[number % 8] + number
    return MemoryNode(id=f"n{number}", content=f"word{number} apple", embedding=vector)


def _put(store: SqliteStore, *numbers: int) -> None:
    for number in numbers:
        store.add_node(_node(number))
    store.follower.checkpointer.wait()


def _states(path: Path) -> list[str]:
    return sorted(folder.name for folder in path.with_suffix(".index").iterdir())


def _opened_from_kept(path: Path, caplog: pytest.LogCaptureFixture) -> bool:
    """Open, check and close a memory. Return whether opening used its checkpoint."""
    caplog.clear()
    with caplog.at_level(logging.WARNING), SqliteStore.open(path, config=NEVER) as store:
        assert store.check() == []
        return store.engine.checkpoints._trusted != {} and not caplog.text


def test_an_erasure_that_cannot_remove_the_checkpoint_erases_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SqliteStore.open(path, config=OFTEN) as store:
        _put(store, *range(6))
        store.remove_node("n2")

        def busy(*_: object) -> None:
            raise OSError("directory not empty")

        with monkeypatch.context() as patch:
            patch.setattr("shutil.rmtree", busy)
            with pytest.raises(StorageError):
                store.compact()
        _put(store, 7, 2)
        assert store.get_node("n7").content == "word7 apple"
        assert store.check() == []
        assert store.compact() == 0
    with SqliteStore.open(path) as again:
        assert {node.id: node.content for node in again.all_nodes()} == {
            f"n{number}": f"word{number} apple" for number in (0, 1, 2, 3, 4, 5, 7)
        }


def test_a_state_from_before_the_erasure_of_another_process_is_not_written(path: Path) -> None:
    # Two stores of one process use the same locks as two processes.
    with SqliteStore.open(path, config=NEVER) as store, SqliteStore.open(path, config=NEVER) as other:
        _put(store, *range(4))
        assert (frozen := store.follower.freeze()) is not None
        other.remove_node("n2")
        assert other.compact() == 1
        assert store.engine.checkpoints.write(frozen, store.follower.is_current) is None
        assert [file for file in path.parent.rglob("*") if file.is_file() and b"word2" in file.read_bytes()] == []


def test_a_dropped_namespace_leaves_nothing_and_the_others_their_indexes(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with SqliteStore.open(path, config=OFTEN) as store:
        _put(store, *range(4))
        _put(store.in_namespace("secret"), *range(4))
        assert len(_states(path)) == 2
        store.drop_namespace("secret")
        assert len(_states(path)) == 1
        _put(store, 5)
    assert _opened_from_kept(path, caplog)


def test_damage_to_a_file_that_states_share_gets_no_new_checksum(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with SqliteStore.open(path, config=OFTEN) as store:
        # All at once, so that one file holds them. It is too large to be rewritten with the few later ones.
        store.apply(GraphDelta(nodes=tuple(map(_node, range(700)))))
        store.follower.checkpointer.wait()
        shared = [file for file in path.with_suffix(".index").rglob("*.vectors") if file.stat().st_size]
        assert shared
        damaged = {file.stat().st_ino for file in shared}
        for file in shared:
            content = bytearray(file.read_bytes())
            content[len(content) // 2] ^= 1
            with file.open("r+b") as opened:
                opened.write(content)
        _put(store, *range(700, 760))
        kept = {file.stat().st_ino for file in path.with_suffix(".index").rglob("*") if file.is_file()}
        assert kept & damaged, "nothing that was damaged came into the new state"
    assert not _opened_from_kept(path, caplog)
    assert "damaged" in caplog.text


def test_neither_compacting_nor_closing_waits_for_ever_within_a_transaction(path: Path) -> None:
    store = SqliteStore.open(path, config=OFTEN)

    def compact() -> None:
        with store.transaction():
            store.add_node(MemoryNode(id="a", content="a"))
            store.compact()

    def close() -> None:
        with store.transaction():
            store.add_node(MemoryNode(id="b", content="b"))
            store.close()

    with pytest.raises(InputError, match="transaction"):
        compact()
    with pytest.raises(StorageError):
        close()
    with SqliteStore.open(path) as again:
        assert len(again) == 0


def test_a_state_that_vanishes_while_it_is_read_is_looked_for_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = SqliteStore.open(path, config=OFTEN)
    _put(writer, *range(4))
    found, once = Checkpoints._folders, iter([True])

    def folders(self: Checkpoints, namespace: int) -> list[Path]:
        listed = found(self, namespace)
        if next(once, False):
            # The writer is faster than this reader.
            _put(writer, 5)
        return listed

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "_folders", folders)
        with SqliteStore.open(path, read_only=True) as reader:
            assert reader.engine.checkpoints._trusted
            assert len(reader) == 5
    writer.close()
