"""Checkpoints beside erasures, restored histories, dropped namespaces, damage and foreign files."""

import logging
from pathlib import Path

import numpy as np
import pytest

from neurogated import GraphDelta, MemoryConfig, MemoryNode
from neurogated.config.groups import RuntimeSettings
from neurogated.errors import InputError, StorageError
from neurogated.storage.checkpoint import Checkpoints
from neurogated.storage.sqlite_store import SqliteStore

OFTEN = MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=1))
SELDOM = MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=10**9))


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
    with caplog.at_level(logging.WARNING), SqliteStore.open(path, config=SELDOM) as store:
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
    with SqliteStore.open(path, config=SELDOM) as store, SqliteStore.open(path, config=SELDOM) as other:
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
