"""Replaying the log of a graph in another one that has memories of its own."""

from datetime import timedelta

import pytest

from neurogated import EdgeType, GraphStore, MemoryEdge, MemoryNode
from neurogated.archive.importing import replay
from neurogated.core.delta import Decay, GraphDelta, WeightChange
from neurogated.core.model import EdgeKey
from neurogated.testing import ManualClock

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
