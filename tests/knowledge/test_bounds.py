"""What a write compares does not grow with the memory, nor with the text."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from benchmarks.calls import calls_of
from neurogated import ANY_USER, MemoryConfig, NeuroGraphMemory
from neurogated.core.facts import Claim
from neurogated.core.judgements import Relation
from neurogated.slots.claims import compare
from neurogated.text.normalise import Sentence, plain_sentences
from tests.knowledge.plain_reader import config_of
from tests.knowledge.stated import lives, opened, year

FEW, MANY = 6, 60


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, object]]:
    """The pairs that the judge compares."""
    pairs = list[tuple[object, object]]()

    def counted(first: Claim, second: Claim) -> Relation:
        pairs.append((first, second))
        return compare(first, second)

    monkeypatch.setattr("neurogated.slots.table.compare", counted)
    return pairs


def homes(count: int) -> str:
    return " ".join(f"Maria lives in Town{n} and works at the mill number {n}." for n in range(count))


def test_documents_without_a_user_are_not_compared(compared: list[object], memory: NeuroGraphMemory) -> None:
    memory.add_documents(["Maria lives in Leeds.", "Maria lives in York now."])
    assert not compared


def test_documents_of_a_user_are_compared(memory: NeuroGraphMemory) -> None:
    memory.add_documents([{"text": text, "user_id": "ana"} for text in ("I live in Leeds.", "I live in York.")])
    memory.learning.resume()
    assert memory.conflicts.list(None, user_id="ana")


def test_a_pasted_message_is_compared_with_nothing(compared: list[object], memory: NeuroGraphMemory) -> None:
    memory.add("I live in Leeds.", user_id="ana", session_id="s")
    compared.clear()
    memory.add("I live in York. " + homes(MANY * 5), user_id="ana", session_id="s")
    assert not compared


@pytest.mark.parametrize("step", [1, -1])
def test_a_value_meets_the_standing_one_only(step: int, compared: list[object]) -> None:
    last = {}
    for count in (FEW, MANY):
        with opened() as memory:
            ids = dict[int, str]()
            for n in list(range(count))[::step]:
                before = len(compared)
                ids[n] = lives(memory, f"Town{n}", 1900 + n)
            last[count] = len(compared) - before
            ends = [memory.get(ids[n]).valid_to for n in range(count)]
            assert ends == [*(year(1900 + n) for n in range(1, count)), None]
            assert len(memory.conflicts.list(None, user_id="ana")) == count - 1
    assert last[FEW] == last[MANY]


def _calls_about_a_slot(values: int) -> tuple[int, int]:
    """Return the calls, Python and C, of a fact in a slot with many values, and of a recall of it."""
    with opened() as memory:
        for n in range(values):
            lives(memory, f"Town{n}", 1900 + n)
            memory.facts.add("Ben", f"trait {n}", "calm", user_id="ana")
        memory.recall("What is the city of Ana?", user_id="ana")
        add = partial(memory.facts.add, "Ana", "city", "Leeds", user_id="ana", valid_from=year(1900 + values))
        calls = calls_of(add), calls_of(partial(memory.recall, "What is the city of Ana?", user_id="ana"))
        assert [fact.value for fact in memory.facts.list("Ana", valid_at=datetime.now(UTC), user_id="ana")] == ["Leeds"]
    return calls


def test_a_fact_is_as_much_work_however_many_values_its_slot_had() -> None:
    few, many = _calls_about_a_slot(MANY // 2), _calls_about_a_slot(MANY * 2)
    assert many[0] < 1.05 * few[0]
    # More memories are found, whatever they say.
    assert many[1] < 1.3 * few[1]


def test_a_message_of_many_pieces_is_read_once_for_their_importance(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[int]()

    def counted(text: str) -> Iterator[Sentence]:
        read.append(len(text))
        return plain_sentences(text)

    monkeypatch.setattr("neurogated.ingestion.analysers.plain_sentences", counted)
    text = homes(MANY * 10)
    with opened() as memory:
        pieces = memory.add({"role": "user", "content": text}, user_id="ana", session_id="s")
    assert len(pieces) > FEW
    assert sum(read) <= 2 * len(text)


# What is read, what is compared, and what is counted


TEXTS = ("I live in Leeds.", "I live in York.")


@pytest.mark.parametrize(
    ("setting", "facts", "conflicts"), [({}, 2, 1), ({"knowledge": "claims"}, 2, 0), ({"knowledge": "slots"}, 0, 0)]
)
def test_facts_are_read_without_comparing_them(
    read_by_model: Mapping[str, Any], setting: dict[str, object], facts: int, conflicts: int
) -> None:
    config = config_of(read_by_model, storage="memory").replace(metabolism=setting)
    with NeuroGraphMemory(config) as memory:
        for text in TEXTS:
            memory.add(text, user_id="ana")
        assert len(memory.facts.list(user_id="ana")) == facts
        assert len(memory.conflicts.list(None, user_id="ana")) == conflicts


def test_stated_facts_are_compared_where_nothing_is_read() -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash").replace(metabolism={"knowledge": "slots"})
    with NeuroGraphMemory(config) as memory:
        for city in ("Leeds", "York"):
            memory.facts.add("Ana", "city", city, user_id="ana")
        assert len(memory.conflicts.list(None, user_id="ana")) == 1


def test_the_figures_count_memories_apart_from_claims_and_conflicts(memory: NeuroGraphMemory) -> None:
    for text in TEXTS:
        memory.add(text, user_id="ana")
    figures = memory.admin.stats()
    assert figures["memories"] == memory.count(user_id=ANY_USER) == len(TEXTS)
    assert figures["nodes"] == 2 * len(TEXTS)
