"""A writer keeps the nodes that it stored last, and uses them only while the graph is as it left it."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from neurogated import EdgeType, GraphDelta, GraphStore, MemoryConfig, NeuroGraphMemory
from neurogated.core.delta import Access

CONFIG = MemoryConfig(storage="memory", embedding_name="hash")
_TEXT = "The key lies under the mat."


def _reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    read: list[int] = []
    real = GraphStore.get_nodes

    def get_nodes(store: GraphStore, node_ids: Sequence[str], **details: Any) -> Any:  # noqa: ANN401
        read.append(len(node_ids))
        return real(store, node_ids, **details)

    monkeypatch.setattr(GraphStore, "get_nodes", get_nodes)
    return read


def _turn(memory: NeuroGraphMemory, text: str) -> str:
    return memory.add(text, user_id="ana", session_id="s")[0]


def _equal_pairs(memory: NeuroGraphMemory) -> set[frozenset[str]]:
    edges = memory.store.all_edges()
    return {frozenset(edge.key[:2]) for edge in edges if edge.type is EdgeType.SAME_AS}


def test_the_next_turn_of_a_conversation_reads_no_stored_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        first = [_turn(memory, f"I saw {count} herons today.") for count in range(4)]
        read = _reads(monkeypatch)
        last = _turn(memory, "I saw 3 herons today.")
        assert sum(read) == 0
        assert _equal_pairs(memory) == {frozenset((first[3], last))}


OTHER = "The key hangs in the hall."
CHANGES: dict[str, Callable[[NeuroGraphMemory, str], object]] = {
    "update": lambda memory, name: memory.update(name, content=OTHER),
    "delete": lambda memory, name: memory.delete([name]),
    "undo": lambda memory, _: memory.undo(user_id="ana"),
    "apply": lambda memory, name: memory.store.apply(
        GraphDelta(nodes=(memory.store.get_node(name).changed(content=OTHER),))
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_text_is_compared_with_what_is_stored_now(change: Callable[[NeuroGraphMemory, str], object]) -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        _turn(memory, "I am home.")
        change(memory, _turn(memory, _TEXT))
        last = _turn(memory, _TEXT)
        assert not _equal_pairs(memory)
        assert memory.store.get_node(last).content == _TEXT


def _roll_back(memory: NeuroGraphMemory) -> None:
    assert isinstance(memory.store, GraphStore)
    with memory.store.transaction():
        _turn(memory, _TEXT)
        raise KeyError


def test_a_text_whose_write_was_rolled_back_is_forgotten() -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        before = _turn(memory, "I am home.")
        with pytest.raises(KeyError):
            _roll_back(memory)
        last = _turn(memory, _TEXT)
        assert [node.id for node in memory.store.all_nodes()] == [before, last]
        assert {edge.key[:2] for edge in memory.store.all_edges() if edge.type is EdgeType.SEQ} == {(before, last)}
        assert not _equal_pairs(memory)


def test_a_turn_that_moves_keeps_the_uses_that_were_counted_meanwhile() -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        turns = [memory.add(_TEXT, user_id="ana", session_id="s", timestamp=f"2026-01-0{day}")[0] for day in (1, 3)]
        memory.store.apply(GraphDelta(touch=Access.of(turns)))
        for _ in range(40):
            # Late turns between the two take the room between their positions.
            memory.add("I am home.", user_id="ana", session_id="s", timestamp="2026-01-02")
        assert [memory.store.get_node(turn).uses for turn in turns] == [1, 1]
