"""Consolidation by several workers, by a worker in the background, and by one that is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import StorageError
from neurogated.llm.structured import StructuredLLM
from neurogated.session.compose import build
from neurogated.session.runtime import Gathering
from neurogated.testing import ManualClock
from tests.consolidation.clusters import TEXTS, Scribe, add_cluster

WAIT = 60
ROOT = Path(__file__).parents[2]
WORKER = """
import sys
from neurogated import MemoryConfig, NeuroGraphMemory
with NeuroGraphMemory(MemoryConfig(save_dir=sys.argv[1], embedding_name="hash")) as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(5):
        memory.learning.consolidate(max_clusters=2, progress=False)
"""


@pytest.fixture
def scribe() -> Scribe:
    return Scribe("Marta made a blue bowl in a pottery course that began on 3 May 2024.")


@pytest.fixture
def told(config: MemoryConfig, scribe: Scribe, clock: ManualClock) -> Iterator[NeuroGraphMemory]:
    """Return a memory whose language model is `scribe`, and which asks it about facts only."""
    from dataclasses import replace

    config = config.replace(metabolism={"knowledge": "slots"})
    parts = replace(build(config, clock), language_model=StructuredLLM(scribe))
    with NeuroGraphMemory(config, parts=parts) as memory:
        yield memory
        memory.store.close()


def facts_of(memory: NeuroGraphMemory) -> list[str]:
    return [node.content for node in memory.store.all_nodes() if node.kind in {"fact", "segment"}]


def clusters(memory: NeuroGraphMemory, count: int = 6) -> None:
    for number in range(count):
        add_cluster(memory, [f"Team {number} {text}" for text in ("won at chess.", "lost at golf.", "has a bus.")])


@pytest.mark.parametrize(
    "answer", ["The pottery course began on 4 May 2024.", "", None, "A pottery course\0.", "pottery " * 1000]
)
def test_a_cluster_has_a_title_if_the_model_invents_a_number_or_fails(
    told: NeuroGraphMemory, scribe: Scribe, answer: str | None
) -> None:
    scribe.answers = [] if answer is None else [answer]
    add_cluster(told)
    told.learning.consolidate()
    (fact,) = facts_of(told)
    assert fact.startswith("pottery course")
    assert "\n" not in fact


def test_no_lock_is_held_while_the_model_answers_and_changed_sources_are_skipped(
    told: NeuroGraphMemory, scribe: Scribe
) -> None:
    ids = add_cluster(told)

    def write_meanwhile() -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(told.update, ids[0], "The pottery course was cancelled.").result(WAIT)

    scribe.act = write_meanwhile
    assert told.learning.consolidate() == []
    assert facts_of(told) == []
    scribe.act = lambda: None
    scribe.answers = ["The pottery course was cancelled."]
    assert len(told.learning.consolidate()) == 1


def _run(script: str, *words: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", script, *words], env=environment, text=True, **pipes)


def test_processes_never_make_a_fact_twice(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        clusters(memory)
    workers = [_run(WORKER, config.save_dir) for _ in range(2)]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        worker.communicate("go\n", timeout=WAIT)
        assert worker.returncode == 0
    with NeuroGraphMemory(config) as memory:
        assert len(facts_of(memory)) == 6
        assert memory.admin.check() == []
        sources = [edge.target_id for edge in memory.store.all_edges() if edge.type.name == "DERIVED_FROM"]
        assert len(sources) == len(set(sources)) == 18


def test_a_worker_in_the_background_consolidates_every_namespace(config: MemoryConfig) -> None:
    config = config.replace(metabolism={"consolidate_seconds": 0.05})
    made: list[str] = []
    both = threading.Event()
    with NeuroGraphMemory(config) as memory:
        other = memory.in_namespace("other")

        def note(ids: list[str]) -> None:
            made.extend(one for one in ids if one.startswith("cluster-"))
            if len(made) == 2:
                both.set()

        memory.on("added", note)
        add_cluster(memory)
        add_cluster(other, [f"Other: {text}" for text in TEXTS])
        assert both.wait(WAIT)
        assert len(facts_of(memory)) == len(facts_of(other)) == 1
    assert "neurogated-consolidation" not in [thread.name for thread in threading.enumerate()]


def test_a_call_that_fails_is_logged_and_the_next_ones_go_on(caplog: pytest.LogCaptureFixture) -> None:
    errors, done = iter([StorageError("no room")]), threading.Event()

    def work(_: object) -> None:
        for error in errors:
            raise error
        done.set()

    thread = Gathering("test", "it failed", 0.01, work)
    thread.add(work, 0)
    assert done.wait(WAIT)
    thread.close()
    assert "it failed: no room" in caplog.text


def test_enough_of_them_wait_no_longer() -> None:
    done = threading.Event()
    thread = Gathering("test", "it failed", 3_600, lambda about: about.set(), most=2)
    thread.add(done, 1)
    thread.add(done, 1)
    assert done.wait(WAIT)
    thread.close()
