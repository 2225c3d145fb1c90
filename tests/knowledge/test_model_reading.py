"""A language model behind real HTTP reads what messages say."""

from __future__ import annotations

from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.slots.values import ATTRIBUTES
from tests.knowledge.model_server import ModelServer, Pair, both_said, found, said, waiting

BEEKEEPER = "Since May I keep the bees of the old mill, and Mrs Ott lends me her smoker."


@pytest.fixture
def reading(config: MemoryConfig) -> MemoryConfig:
    """Return settings with which the model reads claims and judges no pairs."""
    return config.replace(metabolism={"knowledge": "claims, slots"})


def claim(message: Pair, slot: str, value: str, quote: str, **others: str) -> dict[str, Any]:
    subject, attribute = slot.split("|")
    parts = {"subject": subject, "attribute": attribute, "value": value, "quote": quote}
    return {"message": message["message"], "state": "holds", "since": "", "until": "", **parts, **others}


def hobby(message: Pair) -> list[dict[str, Any]]:
    """Read the hobby of the beekeeper."""
    times = {"state": "begins", "since": "2023-05"}
    return [claim(message, "user|hobby", "bees", "I keep the bees", **times)] if "bees" in message["text"] else []


def facts(memory: NeuroGraphMemory, user: str = "ana") -> list[str]:
    return [f"{one.subject}|{one.attribute}|{one.value}" for one in memory.facts.list(user_id=user)]


@pytest.mark.parametrize(
    ("text", "since", "day"),
    [
        ("Since last Friday I keep the bees.", "last Friday", "2024-03-01"),
        ("Since last Friday I keep the bees.", "2024-03-01", "2024-03-01"),
        # The model counted wrongly, or made the date up.
        ("Since last Friday I keep the bees.", "2024-02-24", None),
        ("I keep the bees of my 2 aunts.", "2024-01", None),
        ("Seit Mai 2023 hüte ich bees.", "2023-05", "2023-05-01"),
        ("上周五我开始养 bees。", "上周五", "2024-03-01"),
    ],
)
def test_our_own_reader_resolves_the_days_that_a_text_names(
    reading: MemoryConfig, model: ModelServer, text: str, since: str, day: str | None
) -> None:
    model.claims = lambda message: [claim(message, "user|hobby", "bees", text, since=since)]
    with NeuroGraphMemory(reading) as memory:
        memory.add({"role": "user", "content": text}, user_id="ana", timestamp="2024-03-04T09:00:00Z")
        memory.flush()
        (fact,) = memory.facts.list(user_id="ana")
    assert (fact.valid_from and fact.valid_from.date().isoformat()) == day


def test_the_prompt_names_the_attributes_of_the_table(reading: MemoryConfig, model: ModelServer) -> None:
    with NeuroGraphMemory(reading) as memory:
        said(memory, BEEKEEPER)
    assert ", ".join(ATTRIBUTES) in model.prompts[0]


@pytest.mark.parametrize(
    "changed",
    [
        {"value": "wasps"},
        {"subject": "Otto"},
        {"value": " "},
        {"attribute": " "},
        {"message": 7},
        {"value": "bees " * 100},
    ],
)
def test_a_claim_that_the_text_does_not_make_is_dropped(
    reading: MemoryConfig, model: ModelServer, changed: dict[str, Any]
) -> None:
    model.claims = lambda message: [{**one, **changed} for one in hobby(message)]
    with NeuroGraphMemory(reading) as memory:
        said(memory, BEEKEEPER)
        assert not [one for one in facts(memory) if "|hobby|" in one]
        assert waiting(memory) == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The wedding is on the 3rd of May 2025.", "2025-05-03"),
        ("Her rent went up to 1,250 euros.", "1250"),
        ("We serve vegetarians only.", "vegetarian"),
    ],
)
def test_a_value_may_have_another_form_than_in_the_text(
    reading: MemoryConfig, model: ModelServer, text: str, value: str
) -> None:
    model.claims = lambda message: [claim(message, "user|note", value, text)]
    with NeuroGraphMemory(reading) as memory:
        said(memory, text)
        assert f"user|note|{value}" in facts(memory)


def test_a_memory_that_changes_or_goes_while_the_model_reads_gets_no_old_claims(
    reading: MemoryConfig, model: ModelServer
) -> None:
    model.claims = hobby
    with NeuroGraphMemory(reading.replace(llm={"wait": False})) as memory:
        changed, gone = said(memory, BEEKEEPER), said(memory, f"{BEEKEEPER} Hooray.", 1)

        def change() -> None:
            model.during = None
            memory.update(changed, "I gave up all that.")
            memory.delete(gone)

        model.during = change
        memory.learning.resume()
        assert not [one for one in facts(memory) if "bees" in one]


def test_speakers_are_the_subjects_of_what_they_say(reading: MemoryConfig, model: ModelServer) -> None:
    model.claims = hobby
    with NeuroGraphMemory(reading) as memory:
        said(memory, BEEKEEPER, name="Nora")
        assert "Nora|hobby|bees" in facts(memory)
    assert model.read[0][0]["speaker"] == "Nora"


@pytest.mark.parametrize("answer", [None, "both"])
def test_a_pair_has_one_conflict_though_two_judges_find_it(
    config: MemoryConfig, model: ModelServer, answer: str | None
) -> None:
    states = {"touch no meat": "denied", "a big steak of meat": "holds"}
    model.claims = lambda message: [
        claim(message, "user|diet", "meat", quote, state=state)
        for quote, state in states.items()
        if quote in message["text"]
    ]
    config = config.replace(metabolism={"knowledge": "claims, slots, pairs"}, llm={"wait": False})
    with NeuroGraphMemory(config) as memory:
        both_said(memory)
        _, pairs = memory.session.backlogs
        # Earlier versions judged pairs before the claims were read.
        pairs._enquiry.after = None
        pairs.work(memory.session.clock, lambda: False, patient=True)
        (conflict,) = found(memory)
        assert conflict.rule == "model"
        if answer is not None:
            memory.conflicts.resolve(conflict.id, answer)
        memory.learning.resume()
        assert len(facts(memory)) == len(states)
        left = {one.rule: one.by_user for one in found(memory)}
        # What somebody answered about two messages holds for their claims as well.
        assert left == ({"statement": False} if answer is None else {"model": True, "statement": True})
        assert memory.admin.check() == []
