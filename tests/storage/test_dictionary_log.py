"""A new engine is short: an engine over a dictionary passes the kit, and several stores share it."""

import contextlib
import inspect
import threading
from pathlib import Path
from weakref import WeakKeyDictionary

import pytest

from neurogated import EdgeType, GraphDelta, GraphStore, MemoryNode
from neurogated.core.clock import Clock, utc_now
from neurogated.core.ports import GraphStorePort
from neurogated.errors import MemoryLockedError
from neurogated.testing import GraphStoreContract, store_machine
from tests.storage import dictionary_log
from tests.storage.dictionary_log import Dictionary, DictionaryEngine

_MOST_LINES = 200
_dictionaries: WeakKeyDictionary[GraphStorePort, tuple[Dictionary, Clock]] = WeakKeyDictionary()


def _open(dictionary: Dictionary, clock: Clock = utc_now) -> GraphStore:
    store = GraphStore(engine=DictionaryEngine(dictionary), clock=clock)
    _dictionaries[store] = dictionary, clock
    return store


def _new(folder: Path, *, clock: Clock) -> GraphStorePort:  # noqa: ARG001 - it writes nothing
    return _open(Dictionary(), clock)


def _killed(store: GraphStorePort) -> GraphStorePort:
    return _open(*_dictionaries[store])


def _reopened(store: GraphStorePort) -> GraphStorePort:
    store.close()
    return _killed(store)


class TestDictionaryStore(GraphStoreContract):
    def open_store(self, folder: Path, *, clock: Clock) -> GraphStorePort:
        return _new(folder, clock=clock)

    def reopen(self, store: GraphStorePort) -> GraphStorePort:
        return _reopened(store)

    def kill(self, store: GraphStorePort) -> GraphStorePort:
        return _killed(store)


TestDictionaryStoreMachine = store_machine(open_store=_new, reopen=_reopened, kill=_killed).TestCase


def test_a_log_is_short() -> None:
    assert len(inspect.getsource(dictionary_log).splitlines()) <= _MOST_LINES


def test_stores_of_one_log_follow_each_other() -> None:
    dictionary = Dictionary()
    first, second = _open(dictionary), _open(dictionary)
    first.add_node(MemoryNode("a", "heron", [1.0, 0.0]))
    second.add_node(MemoryNode("b", "stone", [0.0, 1.0]))
    first.add_edge("a", "b", EdgeType.SEQ)
    for store in (first, second):
        assert [node.id for node in store.all_nodes()] == ["a", "b"]
        assert store.get_edge("a", "b").type is EdgeType.SEQ
        assert [name for name, _ in store.keyword_search("heron", 2)] == ["a"]
        assert len(store.history()) == 3
    second.remove_node("a")
    assert second.compact(history=True) == 1
    assert [node.id for node in first.all_nodes()] == ["b"]
    assert list(first.all_edges()) == []


def test_a_transaction_shows_to_other_stores_when_it_has_ended() -> None:
    dictionary = Dictionary()
    first, second = _open(dictionary), _open(dictionary)
    with first.transaction():
        first.add_node(MemoryNode("a", "heron"))
        assert first.has_node("a")
        assert not second.has_node("a")
    assert second.has_node("a")
    with contextlib.suppress(ZeroDivisionError), first.transaction():
        first.add_node(MemoryNode("b", "stone"))
        1 / 0  # noqa: B018 - any error
    assert not first.has_node("b")
    assert not second.has_node("b")


def test_who_writes_while_another_store_does_not_end_its_write_is_told() -> None:
    dictionary = Dictionary()
    first, second = _open(dictionary), _open(dictionary)
    first.add_node(MemoryNode("a", "heron"))
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with first.transaction():
            held.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    try:
        with pytest.raises(MemoryLockedError):
            second.apply(GraphDelta(nodes=(MemoryNode("b", "stone"),)))
        # Reads continue.
        assert [node.id for node in second.all_nodes()] == ["a"]
    finally:
        done.set()
        holder.join()
    second.apply(GraphDelta(nodes=(MemoryNode("b", "stone"),)))
    assert first.has_node("b")


def test_several_stores_write_at_once_and_lose_nothing() -> None:
    dictionary = Dictionary()
    names = [[f"{store}-{number}" for number in range(40)] for store in range(3)]

    def write(own: list[str]) -> None:
        store = _open(dictionary)
        for name in own:
            store.add_node(MemoryNode(name, "heron"))

    threads = [threading.Thread(target=write, args=(own,)) for own in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {node.id for node in _open(dictionary).all_nodes()} == {name for own in names for name in own}
