"""Fixtures of the tests of LangGraph's interfaces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore

from neurogated.integrations.langgraph.memoryos import MemoryOS
from tests.integrations.langgraph.conversations import Open
from tests.integrations.langgraph.words import WordEmbeddings


@pytest.fixture(params=["ours", "in memory"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Open a memory again and again on the same store."""
    shared = InMemoryStore()
    memories: list[MemoryOS] = []

    def opening(**options: Any) -> MemoryOS:  # noqa: ANN401
        place = {"storage_dir": tmp_path / "memory"} if request.param == "ours" else {"store": shared}
        memories.append(MemoryOS(embedding=WordEmbeddings(), **place, **options))
        return memories[-1]

    yield opening
    for memory in memories:
        memory.close()
