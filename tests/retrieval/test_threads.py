"""The threads of recalls."""

import math
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.retrieval import neuro_retriever
from neurogated.retrieval.dormancy import Scored
from neurogated.retrieval.queries import started


def test_the_namespaces_of_a_memory_share_the_threads_of_their_searches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neuro_retriever, "_SLOW_EMBEDDING", -1.0)
    cores = os.cpu_count() or 1
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")) as memory:
        for number in range(2 * cores + 1):
            tenant = memory.in_namespace(f"tenant-{number}")
            tenant.add("Ann lives in Bergen.")
            for _ in range(2):
                assert tenant.recall("Where does Ann live?").ids
        searching = [one for one in threading.enumerate() if one.name.startswith("first-phase")]
    assert 0 < len(searching) <= cores


@pytest.mark.parametrize(("slow", "threads"), [(math.inf, 0), (-1.0, 2)])
def test_a_thread_searches_only_beside_a_slow_embedder(
    slow: float, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []

    def begin(search: Callable[[], list[Scored]]) -> Future[list[Scored]]:
        begun.append(search)
        return started(search)

    monkeypatch.setattr(neuro_retriever, "_SLOW_EMBEDDING", slow)
    monkeypatch.setattr(neuro_retriever, "started", begin)
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        memory.add("Ann lives in Bergen.")
        found = [memory.recall("Where does Ann live?").ids for _ in range(3)]
    # The first recall measures the embedder.
    assert len(begun) == threads
    assert found[0]
    assert found == found[:1] * 3
