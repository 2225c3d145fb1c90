"""What follows what is never forgotten."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from neurogated import EdgeType, MemoryConfig, NeuroGraphMemory
from neurogated.compose import build
from neurogated.testing.clock import ManualClock
from tests.sessions import TALK, order_of


@pytest.mark.parametrize("storage", ["memory", "sqlite"])
def test_a_year_of_maintenance_leaves_a_session_whole(storage: str, tmp_path: Path) -> None:
    clock = ManualClock()
    config = MemoryConfig(storage=storage, save_dir=str(tmp_path), embedding_name="hash")
    with NeuroGraphMemory(config, parts=build(config, clock)) as memory:
        ids = memory.add(list(TALK), session_id="s")
        memory.feedback([ids[0], ids[4]])
        for _ in range(52):
            clock.advance(timedelta(days=7))
            memory.maintenance()
        edges = list(memory.store.all_edges())
        assert not any(edge.type is EdgeType.ASSOC for edge in edges)
        weights = {edge.weight for edge in edges if edge.type is EdgeType.SEQ}
        assert weights == {config.MIN_EDGE_WEIGHT}
        assert order_of(memory) == list(TALK)
        clock.advance(timedelta(days=365))
        memory.maintenance()
        assert order_of(memory) == list(TALK)
        memory.feedback(ids[:2])
        assert memory.store.get_edge(ids[0], ids[1], EdgeType.SEQ).weight > config.MIN_EDGE_WEIGHT
        assert memory.check() == []
