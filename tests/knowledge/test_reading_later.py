"""A language model reads new memories in the background: many in one call, whatever the form of its answers."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from neurogated import EdgeType, MemoryConfig, NeuroGraphMemory
from neurogated.knowledge import backlog
from neurogated.session import runtime
from neurogated.session.subscribers import work_off
from tests.knowledge.model_server import ModelServer, Pair, said, waiting

HOBBIES = ["sailing", "chess", "pottery", "fencing", "climbing", "rowing", "baking", "juggling"]


def hobby(message: Pair) -> list[dict[str, Any]]:
    """Read the hobby of a message."""
    thing = next((one for one in HOBBIES if one in message["text"]), None)
    if thing is None:
        return []
    claim = {"subject": "user", "attribute": "hobby", "value": thing, "state": "holds", "since": "", "until": ""}
    return [{"message": message["message"], **claim, "quote": f"my hobby is {thing}"}]


@pytest.fixture
def later(config: MemoryConfig, model: ModelServer) -> MemoryConfig:
    """Return the settings of a memory whose model reads later, once eight memories wait."""
    model.claims = hobby
    metabolism = {"knowledge": "claims, slots"}
    return config.replace(metabolism=metabolism, llm={"wait": False})


def say_hobbies(memory: NeuroGraphMemory, number: int = len(HOBBIES)) -> list[str]:
    return [said(memory, f"Well, my hobby is {one}.", day) for day, one in enumerate(HOBBIES[:number])]


def hobbies(memory: NeuroGraphMemory) -> set[str]:
    return {fact.value for fact in memory.facts.list(user_id="ana")}


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until another thread has done its work."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_eight_memories_are_read_in_one_call(later: MemoryConfig, model: ModelServer) -> None:
    with NeuroGraphMemory(later) as memory:
        say_hobbies(memory, 7)
        assert (model.read, waiting(memory)) == ([], 7)
        said(memory, f"Well, my hobby is {HOBBIES[7]}.", 8)
        until(lambda: waiting(memory) == 0)
        assert hobbies(memory) == set(HOBBIES)
        assert [len(lines) for lines in model.read] == [8]


def test_a_call_has_memories_of_one_owner_only(later: MemoryConfig, model: ModelServer) -> None:
    users = ("ana", "ben", None, "ana", "ben", None, "ana", "ben")
    with NeuroGraphMemory(later) as memory:
        for user, thing in zip(users, HOBBIES, strict=True):
            memory.add({"role": "user", "content": f"Well, my hobby is {thing}."}, user_id=user, session_id="s")
        until(lambda: waiting(memory) == 0)
    asked = [{users[HOBBIES.index(hobby(line)[0]["value"])] for line in lines} for lines in model.read]
    assert len(asked) == 3
    assert set().union(*asked) == {*users}


def test_after_a_failure_the_background_asks_nothing_for_a_while_and_a_call_asks_at_once(
    later: MemoryConfig, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backlog, "REST_SECONDS", 1e6)
    model.down = True
    with NeuroGraphMemory(later) as memory:
        say_hobbies(memory, 2)
        assert [work_off(memory.session, patient=False) for _ in range(3)] == [0, 0, 0]
        tried = len(model.read)
        model.down = False
        assert (work_off(memory.session, patient=False), len(model.read)) == (0, tried)
        assert memory.learning.resume() == (2, 0)
        say_hobbies(memory, 3)
        assert work_off(memory.session, patient=False) == 3


def test_fewer_memories_are_read_after_some_time(later: MemoryConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "GATHER_SECONDS", 0.01)
    with NeuroGraphMemory(later) as memory:
        say_hobbies(memory, 2)
        until(lambda: waiting(memory) == 0)
        assert hobbies(memory) == set(HOBBIES[:2])


def test_a_memory_that_is_opened_again_goes_on(later: MemoryConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    with NeuroGraphMemory(later) as memory:
        say_hobbies(memory, 3)
    monkeypatch.setattr(runtime, "GATHER_SECONDS", 0.0)
    with NeuroGraphMemory(later) as memory:
        until(lambda: waiting(memory) == 0)
        assert hobbies(memory) == set(HOBBIES[:3])


def test_closing_does_not_wait_for_the_model(later: MemoryConfig, model: ModelServer) -> None:
    model.hold()
    with NeuroGraphMemory(later) as memory:
        say_hobbies(memory)
        assert model.came.wait(60)
    model.goes_on.set()
    model.during = None
    with NeuroGraphMemory(later) as memory:
        assert memory.flush() == 0
        assert hobbies(memory) == set(HOBBIES)


def flush_at_once(*memories: NeuroGraphMemory) -> None:
    with ThreadPoolExecutor(len(memories)) as pool:
        assert list(pool.map(NeuroGraphMemory.flush, memories)) == [0] * len(memories)


_KILLED = """
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.knowledge.reading import ReadingEnquiry
ReadingEnquiry.together = 3
NeuroGraphMemory(MemoryConfig.from_mapping({values})).flush()
"""


def test_a_process_that_is_killed_while_it_asks_loses_nothing_and_others_ask_nothing_twice(
    later: MemoryConfig, model: ModelServer
) -> None:
    with NeuroGraphMemory(later) as memory:
        say_hobbies(memory, 7)
    assert model.read == []
    values: dict[str, Any] = {"save_dir": str(later.save_dir), "embedding_name": "hash", "llm_base_url": model.url}
    values |= {"cache_bytes": 0, "metabolism.knowledge": "claims, slots"}
    killed = threading.Event()
    model.during = lambda: len(model.read) == 2 and killed.wait(60)
    process = subprocess.Popen([sys.executable, "-c", _KILLED.format(values=values)])
    until(lambda: len(model.read) == 2)
    process.kill()
    process.wait(60)
    killed.set()
    with NeuroGraphMemory(later) as memory, NeuroGraphMemory(later) as other:
        flush_at_once(memory, other)
        assert hobbies(memory) == set(HOBBIES[:7])
        assert memory.admin.check() == []
    first, lost, *rest = ([line["text"] for line in lines] for lines in model.read)
    assert len(first) == len(lost) == 3
    # Only the answer that nobody was there to take is asked for again.
    assert sorted(text for lines in rest for text in lines) == sorted([*lost, f"Well, my hobby is {HOBBIES[6]}."])


@pytest.mark.parametrize("budget", ["1 call", "1 token", "0.0000001 at 2/3"])
def test_what_a_budget_leaves_waits_until_it_is_raised(later: MemoryConfig, model: ModelServer, budget: str) -> None:
    texts = [f"Well, my hobby is {thing}, and I have {number} friends." for number in (2, 3) for thing in HOBBIES]
    with NeuroGraphMemory(later.replace(llm={"wait": False, "budget": budget})) as memory:
        for day, text in enumerate(texts):
            said(memory, text, day)
        assert memory.flush() == waiting(memory) == 8
        assert memory.flush() == 8
        used = memory.usage()
        assert used["calls"] == len(model.read) == 1
        assert min(used["prompt tokens"], used["completion tokens"]) > 0
        assert memory.learning.parked() == {}
    with NeuroGraphMemory(later) as memory:
        assert memory.flush() == 0
        assert memory.usage()["calls"] == 1
    assert sorted(line["text"] for lines in model.read for line in lines) == sorted(texts)


def test_names_and_causes_come_with_the_claims(later: MemoryConfig, model: ModelServer) -> None:
    model.others = lambda lines: {
        "names": [{"message": line["message"], "names": ["the old mill", "Nowhere"]} for line in lines],
        "causes": [{"cause": 1, "effect": 2, "strength": "strong"}, {"cause": 2, "effect": 9, "strength": "weak"}],
    }
    with NeuroGraphMemory(later) as memory:
        first, second = (
            said(memory, "Rain fell on the old mill.", 0),
            said(memory, "The wheel turns at the old mill.", 1),
        )
        assert memory.flush() == 0
        assert memory.get(first).found.entities == memory.get(second).found.entities == ("the old mill",)
        assert memory.store.get_edge(first, second, EdgeType.CAUSE).weight == 1.0
        assert memory.admin.check() == []


def test_a_memory_without_a_usable_answer_is_parked_and_named(later: MemoryConfig, model: ModelServer) -> None:
    model.form = lambda answer: "I cannot do that." if "chess" in json.dumps(answer) else json.dumps(answer)
    with NeuroGraphMemory(later) as memory:
        ids = say_hobbies(memory)
        assert memory.flush() == 1
        assert hobbies(memory) == {*HOBBIES} - {"chess"}
    with NeuroGraphMemory(later.replace(llm={"use": "off"})) as memory:
        assert memory.learning.parked() == {ids[1]: "two answers did not fit the schema"}
    model.form = json.dumps
    with NeuroGraphMemory(later) as memory:
        assert memory.usage()["parked: two answers did not fit the schema"] == 1
        assert memory.flush() == 0
        assert hobbies(memory) == set(HOBBIES)
        assert memory.learning.parked() == {}


def test_a_parked_memory_that_changes_is_read_and_parked_no_more(later: MemoryConfig, model: ModelServer) -> None:
    model.form = lambda answer: "I cannot do that." if "chess" in json.dumps(answer) else json.dumps(answer)
    with NeuroGraphMemory(later.replace(llm={"wait": True})) as memory:
        name = said(memory, "Well, my hobby is chess.")
        assert list(memory.learning.parked()) == [name]
        memory.update(name, "Well, my hobby is rowing.")
        assert hobbies(memory) == {"rowing"}
        assert (memory.learning.parked(), waiting(memory)) == ({}, 0)


def test_what_is_dropped_of_answers_is_counted_by_reason(later: MemoryConfig, model: ModelServer) -> None:
    wrong = [{"value": "wasps"}, {"state": "perhaps"}, {"subject": "Otto"}, {"value": "wasps"}]
    model.claims = lambda message: [{**hobby(message)[0], **one} for one in ({}, *wrong)]
    with NeuroGraphMemory(later) as memory:
        say_hobbies(memory, 2)
        assert memory.flush() == 0
        dropped = {name: number for name, number in memory.usage().items() if name.startswith("dropped: ")}
    assert dropped == {
        "dropped: no value of the text": 4,
        "dropped: an unknown state": 2,
        "dropped: no subject of the text, or no attribute": 2,
    }


def test_a_context_that_is_too_short_for_eight_memories_reads_each_alone(
    later: MemoryConfig, model: ModelServer
) -> None:
    with NeuroGraphMemory(later) as memory:
        say_hobbies(memory, 1)
        assert memory.flush() == 0
        model.context = sum(len(message["content"]) for message in json.loads(model.prompts[-1])) + 40
        long = said(memory, f"Well, my hobby is chess, {'and so on ' * 40}.", 1)
        say_hobbies(memory)
        assert memory.flush() == 1
        assert hobbies(memory) == set(HOBBIES)
        assert list(memory.learning.parked()) == [long]
        assert "too long" in memory.learning.parked()[long]


def test_a_server_that_is_down_parks_nothing(later: MemoryConfig, model: ModelServer) -> None:
    model.down = True
    with NeuroGraphMemory(later) as memory:
        say_hobbies(memory, 2)
        for _ in range(4):
            assert memory.flush() > 0
        assert memory.learning.parked() == {}
        model.down = False
        assert memory.flush() == 0
        assert hobbies(memory) == set(HOBBIES[:2])
