"""Threads, namespaces and processes that work on one memory at the same time."""

import random
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from neurogated import MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.config.groups import RuntimeSettings
from neurogated.errors import StorageError
from neurogated.storage.log.sqlite import integrity
from neurogated.storage.sqlite_store import SqliteStore

PATIENCE = 20


def _node(name: str) -> MemoryNode:
    return MemoryNode(id=name, content=f"text of {name}", embedding=[1.0, 2.0])


def _at_once(*works: Callable[[], object]) -> None:
    """Run all works in threads. Fail if one of them hangs or raises."""
    failed: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - it is raised in the test's own thread
            failed.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads), "they wait for each other for ever"
    if failed:
        raise failed[0]


def test_a_transaction_over_namespaces_and_a_write_into_one_do_not_wait_for_each_other(path: Path) -> None:
    with SqliteStore.open(path) as one:
        two, begun = one.in_namespace("two"), threading.Event()

        def both() -> None:
            with one.transaction():
                one.add_node(_node("a"))
                begun.set()
                time.sleep(0.1)
                two.add_node(_node("a"))

        def later() -> None:
            begun.wait()
            two.add_node(_node("b"))

        _at_once(both, later)
        assert sorted(node.id for node in two.all_nodes()) == ["a", "b"]


def test_a_memory_is_closed_at_once_within_a_transaction_of_another_one(path: Path) -> None:
    # A close that waited for the transaction would wait for a day.
    config = MemoryConfig(runtime=RuntimeSettings(write_lock_seconds=86_400))
    with SqliteStore.open(path, config=config) as one:
        two = SqliteStore.open(path, config=config)
        with one.transaction():
            one.add_node(_node("a"))
            two.close()
        assert one.has_node("a")
    with SqliteStore.open(path) as again:
        assert again.check() == []


def test_compaction_by_two_threads_in_two_namespaces_ends(path: Path) -> None:
    with SqliteStore.open(path) as one:
        two = one.in_namespace("two")
        _at_once(*[lambda store=store: [store.compact() for _ in range(15)] for store in (one, two)])
        assert one.check() == []


def test_a_half_read_journal_blocks_no_other_call(path: Path) -> None:
    with SqliteStore.open(path) as store:
        for name in ("a", "b"):
            store.add_node(_node(name))
        entries = store.journal()
        assert next(entries).sequence == 1
        store.add_node(_node("c"))
        _at_once(lambda: store.add_node(_node("d")))
        assert [entry.sequence for entry in entries] == [2]


def test_a_write_that_cannot_be_acknowledged_is_not_made(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SqliteStore.open(path) as store:
        store.add_node(_node("before"))

        def fail(*_: object) -> tuple[str, int]:
            raise StorageError("the disk fails just now")

        with monkeypatch.context() as patch:
            patch.setattr(integrity, "last_change", fail)
            with pytest.raises(StorageError):
                store.add_node(_node("lost"))
        store.add_node(_node("after"))
        assert store.check() == []
    with SqliteStore.open(path) as store:
        assert [node.id for node in store.all_nodes()] == ["before", "after"]


def test_a_reader_takes_in_an_older_state_that_went_on_otherwise(path: Path) -> None:
    """A restored memory has the identity of the earlier one, and other deltas with the same numbers."""
    with SqliteStore.open(path) as store:
        store.add_node(_node("common"))
        store.backup(path.with_name("snapshot"))
        store.add_node(_node("lost"))
        store.add_node(_node("lost too"))
    with SqliteStore.open(path, read_only=True) as reader:
        assert len(reader) == 3
        for file in path.parent.glob("memory.*"):
            file.unlink()
        shutil.copy(path.with_name("snapshot"), path)
        with SqliteStore.open(path) as store:
            for name in ("w", "x", "y", "z"):
                store.add_node(_node(name))
            assert [node.id for node in reader.all_nodes()] == [node.id for node in store.all_nodes()]


def test_a_crash_while_a_memory_is_dropped_never_leaves_an_older_one(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In any order of deletions, the memory is complete or absent."""
    with SqliteStore.open(path) as store:
        store.add_node(_node("a"))
        store.engine.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        store.add_node(_node("b"))
        shutil.copytree(path.parent, path.parent / "killed")
    path = path.parent / "killed" / "memory.db"
    unlink, left = Path.unlink, [0]

    def crash(file: Path, *, missing_ok: bool = False) -> None:
        if not file.exists() or "draft" in file.name:
            return unlink(file, missing_ok=missing_ok)
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return unlink(file, missing_ok=missing_ok)

    for deletions in range(4):
        copy = path.parent / str(deletions) / "memory.db"
        shutil.copytree(path.parent, copy.parent, ignore=shutil.ignore_patterns("0", "1", "2", "3"))
        left[0] = deletions
        with monkeypatch.context() as patch:
            patch.setattr(Path, "unlink", crash)
            with pytest.raises(KeyboardInterrupt):
                SqliteStore.open(copy, from_scratch=True)
        with SqliteStore.open(copy) as store:
            assert [node.id for node in store.all_nodes()] in ([], ["a", "b"])
            assert store.check() == []


def test_eight_threads_on_one_memory_lose_nothing(config: MemoryConfig) -> None:
    added: list[str] = []

    def work(seed: int) -> None:
        chance = random.Random(seed)
        for number in range(12):
            text = f"Thread {seed} saw that rain number {number} flooded the field. The dam broke because of it."
            added.extend(memory.add_document(text))
            kind = chance.randrange(7)
            if kind == 0:
                memory.feedback(chance.sample(added, min(3, len(added))))
            elif kind == 1:
                memory.maintenance()
            elif kind == 2:
                memory.learning.flush()
            elif kind == 3:
                assert memory.history.list()
            elif kind == 4:
                memory.in_namespace("other").add_document(text)
            else:
                assert len(memory.recall("Why did the dam break?")) > 0

    with NeuroGraphMemory(config) as memory:
        with ThreadPoolExecutor(8) as pool:
            for done in [pool.submit(work, seed) for seed in range(8)]:
                done.result(timeout=300)
        assert all(memory.store.has_node(name) for name in added)
        memory.learning.flush()
        assert memory.store.check() == []  # type: ignore[attr-defined]
        everything = list(memory.store.all_nodes()), list(memory.store.all_edges())
    with NeuroGraphMemory(config) as memory:
        assert (list(memory.store.all_nodes()), list(memory.store.all_edges())) == everything
