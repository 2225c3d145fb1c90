"""The threads of recalls."""

import math
from collections.abc import Callable
from concurrent.futures import Future

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.retrieval import neuro_retriever, turns
from neurogated.retrieval.dormancy import Scored
from neurogated.retrieval.queries import started


@pytest.mark.parametrize(("slow", "threads"), [(math.inf, 0), (-1.0, 2)])
def test_a_thread_searches_only_beside_a_slow_embedder(
    slow: float, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []

    def begin(search: Callable[[], list[Scored]]) -> Future[list[Scored]]:
        begun.append(search)
        return started(search)

    # A memory of few texts is measured as a whole, without a search.
    monkeypatch.setattr(turns, "_FEW_NODES", 0)
    monkeypatch.setattr(neuro_retriever, "_SLOW_EMBEDDING", slow)
    monkeypatch.setattr(neuro_retriever, "started", begin)
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        memory.add("Ann lives in Bergen.")
        found = [memory.recall("Where does Ann live?").ids for _ in range(3)]
    # The first recall measures the embedder.
    assert len(begun) == threads
    assert found[0]
    assert found == found[:1] * 3
