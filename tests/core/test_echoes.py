"""Echoes are hidden only while a reader sees every memory that they repeat."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from neurogated import EdgeType, GraphStore, MemoryNode
from neurogated.core.same_as import are_echoes, echoed_rows

NAMES = [f"m{number}" for number in range(6)]
SOURCES = st.dictionaries(st.sampled_from(NAMES), st.sets(st.sampled_from(NAMES), max_size=3))


@given(sources=SOURCES, apart=st.sets(st.sampled_from(NAMES)), gone=st.sets(st.sampled_from(NAMES)), data=st.data())
def test_a_message_is_an_echo_while_all_its_memories_are_seen(
    sources: dict[str, set[str]], apart: set[str], gone: set[str], data: st.DataObject
) -> None:
    store = GraphStore()
    for name in NAMES:
        store.add_node(MemoryNode(name, name))
    said = {name: told - {name} for name, told in sources.items()}
    for name, told in said.items():
        for other in sorted(told):
            store.add_edge(name, other, EdgeType.ECHO, 0.0 if name in apart else 1 / len(told))
    for name in sorted(gone):
        store.remove_node(name)
    seen = data.draw(st.sets(st.sampled_from(NAMES)))
    view = store.view()
    alive = [name for name in NAMES if name not in gone]
    rows = view.rows(alive)
    visible = np.isin(np.arange(view.node_count), view.known_rows(seen))
    found = are_echoes(view, rows, visible.take)
    for name, is_echo in zip(alive, found.tolist(), strict=True):
        told = said.get(name, set())
        expected = bool(told) and name not in apart and told <= seen - gone
        assert is_echo == expected
    repeated = [{view.ids[row] for row in each} for each in echoed_rows(view, rows)]
    assert repeated == [set() if name in apart else said.get(name, set()) - gone for name in alive]
