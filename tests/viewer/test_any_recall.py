"""Any recall gives a sound page that shows all of it without overlaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings

from neurogated import EdgeType, Kernel, MemoryNode, Recall
from neurogated.core.trace import PathStep, RecalledMemory
from neurogated.viewer import render_recall
from neurogated.viewer.layout import subgraph_of

if TYPE_CHECKING:
    from tests.viewer.conftest import PageReader

WORDS = st.text(max_size=30)
NAMES = st.sampled_from([f"id {letter}" for letter in "abcdefghij"])
SHARES = st.floats(0, 1)
NUMBERS = st.floats()
STEPS = st.builds(PathStep, NAMES, NAMES, st.sampled_from(list(EdgeType)), st.booleans(), SHARES, st.floats(0, 9))
NODES = st.builds(
    MemoryNode,
    NAMES,
    st.text(max_size=900).filter(lambda text: text.isprintable() or text.encode("utf-8", "ignore").decode() == text),
    metadata=st.dictionaries(
        WORDS, st.one_of(WORDS, st.none(), st.integers(), st.lists(WORDS, max_size=2)), max_size=3
    ),
)
MEMORIES = st.builds(
    RecalledMemory,
    NODES,
    NUMBERS,
    st.dictionaries(st.one_of(WORDS, st.just("activation")), NUMBERS, max_size=4),
    st.lists(STEPS, max_size=3).map(tuple),
    st.lists(STEPS, max_size=6).map(tuple),
    st.dictionaries(st.one_of(WORDS, st.sampled_from(["similarity", "activation", "held_back"])), NUMBERS, max_size=4),
)
RECALLS = st.builds(
    Recall,
    WORDS,
    st.lists(MEMORIES, max_size=8, unique_by=lambda memory: memory.id).map(tuple),
    st.builds(Kernel, st.dictionaries(st.sampled_from(list(EdgeType)), st.floats(0, 2)), WORDS),
    st.lists(st.tuples(NAMES, st.floats(-1, 1)), max_size=5).map(tuple),
    st.sampled_from(["gated", "classic"]),
    notes=st.lists(WORDS, max_size=2).map(tuple),
    relays=st.dictionaries(NAMES, st.lists(STEPS, max_size=3).map(tuple), max_size=3),
)
ONCE_READ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@ONCE_READ
@given(recall=RECALLS)
def test_any_recall_gives_a_page_that_is_well_formed(recall: Recall, read: Callable[[str], PageReader]) -> None:
    page = read(render_recall(recall, {}))
    drawn = subgraph_of(recall)
    assert len(page.having("data-arc")) == len(drawn.arcs)
    assert len(page.having("data-item")) == len(drawn.vertices)
    ids = {vertex.id for vertex in drawn.vertices}
    assert ids >= {*recall.ids, *dict(recall.anchors)}
    assert len(drawn.arcs) == sum(map(len, [*(memory.flows for memory in recall), *recall.relays.values()]))
    assert len(page.having("data-flow")) == len(drawn.arcs)
    ids_of_elements = [element["id"] for element in page.having("id")]
    assert len(ids_of_elements) == len(set(ids_of_elements))
    named = {name for element in page.having("data-lit") for name in element["data-lit"].split()}
    named |= {element["data-of"] for element in page.having("data-of")} - {""}
    assert named <= set(ids_of_elements)
