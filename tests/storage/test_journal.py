"""The journal during reads, transactions, and readers beside the writer, step by step."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from graph_store_kit.reads import keyword_search
from neurogated import GraphStore, MemoryNode
from neurogated.errors import InputError, MemoryClosedError, StorageError
from neurogated.storage.sqlite_store import SqliteStore


def _node(name: str, text: str | None = None) -> MemoryNode:
    return MemoryNode(name, text or name, [1.0, float(len(name))])


def _ids(store: GraphStore) -> list[str]:
    return [node.id for node in store.all_nodes()]


# The past


def test_the_past_can_be_read_only(path: Path) -> None:
    with SqliteStore.open(path) as store:
        for name in "abc":
            store.add_node(_node(name))
        past = store.as_of(2)
        writes: list[Callable[[], object]] = [
            lambda: past.add_node(_node("x")),
            lambda: past.remove_node("a"),
            lambda: past.in_namespace("other"),
            lambda: past.bind_embedder("hash", 2),
        ]
        for write in writes:
            with pytest.raises(InputError):
                write()
            assert _ids(past) == ["a", "b"]
        with pytest.raises(InputError), past.transaction():
            past.add_node(_node("x"))
        assert _ids(past) == ["a", "b"]
        assert _ids(past.as_of(1)) == ["a"]
        with pytest.raises(InputError):
            past.as_of(3)
        past.close()
        with pytest.raises(MemoryClosedError):
            past.view()
        assert _ids(store) == ["a", "b", "c"]
        past = store.as_of(2)
    with pytest.raises(MemoryClosedError):
        past.view()


# Transactions


class _FailureError(Exception):
    pass


def _fail_after(store: GraphStore, *changes: Callable[[], object]) -> None:
    """Make changes in a transaction that then fails."""
    with pytest.raises(_FailureError):
        _made_and_failed(store, changes)


def _made_and_failed(store: GraphStore, changes: Iterable[Callable[[], object]]) -> None:
    with store.transaction():
        for change in changes:
            change()
        raise _FailureError


def test_an_inner_transaction_that_raises_is_taken_back_alone(store: GraphStore) -> None:
    with store.transaction():
        store.add_node(_node("a"))
        _fail_after(store, lambda: store.add_node(_node("b")))
        assert _ids(store) == ["a"]
        with store.transaction():
            store.add_node(_node("c"))
    assert _ids(store) == ["a", "c"]
    assert [sorted(entry.changes.items()) for entry in store.history()] == [[("nodes put", 1)]] * 2
    if isinstance(store, SqliteStore):
        assert store.check() == []

    def inner() -> None:
        with store.transaction():
            store.add_node(_node("d"))

    _fail_after(store, inner)
    assert _ids(store) == ["a", "c"]


# Readers


def test_a_reader_opens_the_file_that_replaced_its_own(path: Path, tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "new.db") as new:
        new.add_node(_node("new"))
    with SqliteStore.open(path) as store:
        store.add_node(_node("old"))
    with SqliteStore.open(path, read_only=True) as reader:
        view = reader.view()
        rows = view.rows(["old"])
        (tmp_path / "new.db").replace(path)
        assert _ids(reader) == ["new"]
        assert reader.snapshot(view).similarities([1.0, 3.0], rows).tolist() == [0.0]
        assert keyword_search(reader, "old", 1) == []
        path.unlink()
        with pytest.raises(StorageError):
            reader.view()
