"""A language model behind real HTTP reads what messages say, and answers in many forms."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.slots.values import ATTRIBUTES
from tests.golden import rows
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


Answer = dict[str, Any]

TOLD: Mapping[str, Mapping[str, str]] = dict(rows(__file__, "told"))
CLAIMS = {(text, value) for text, told in TOLD.items() for value in told.values()}


def claims_of(message: Pair) -> list[Answer]:
    """Return what a message says, as the prompt asks for it."""
    parts = {"message": message["message"], "subject": "user", "state": "holds", "since": "", "until": ""}
    told = TOLD[message["text"]].items()
    return [{**parts, "attribute": name, "value": value, "quote": message["text"]} for name, value in told]


def changed(answer: Answer, change: Callable[[Answer], Answer]) -> Answer:
    return {**answer, "claims": [change(one) for one in answer["claims"]]}


def renamed(one: Answer) -> Answer:
    names = {"attribute": "relation", "value": "object", "quote": "evidence", "message": "id"}
    return {names.get(name, name): value for name, value in one.items()}


def by_message(answer: Answer) -> Answer:
    numbers = {one["message"] for one in answer["claims"]}
    bare = [(one["message"], {k: v for k, v in one.items() if k != "message"}) for one in answer["claims"]]
    return {"messages": [{"message": n, "claims": [one for at, one in bare if at == n]} for n in sorted(numbers)]}


def cut_off(answer: Answer) -> str:
    text = json.dumps(answer)
    return text[: len(text) * 2 // 3] if len({one["message"] for one in answer["claims"]}) > 1 else text


def refused_for_one(answer: Answer) -> str:
    return "I must not speak of passwords." if "hunter2" in str(answer) else json.dumps(answer)


FORMS: dict[str, Callable[[Answer], str]] = {
    "as asked": json.dumps,
    "with another key": lambda answer: json.dumps(changed(answer, lambda one: {**one, "certainty": "high"})),
    "with a comma too many": lambda answer: json.dumps(answer).replace("}]", "},]").replace('"}', '",}'),
    "with a fault in one claim": lambda answer: json.dumps(answer).replace('"}, ', '",}, ', 1),
    "cut off": cut_off,
    "cut off in a list": lambda answer: cut_off(answer)[len('{"claims": ') :],
    "a bare list": lambda answer: json.dumps(answer["claims"]),
    "with other names": lambda answer: json.dumps({"facts": list(map(renamed, answer["claims"]))}),
    "with numbers as text": lambda answer: re.sub(r'("message": )(\d+)', r'\1"\2"', json.dumps(answer)),
    "with null dates": lambda answer: json.dumps(changed(answer, lambda one: {**one, "since": None, "until": None})),
    "with less": lambda answer: json.dumps(
        changed(answer, lambda one: {name: one[name] for name in ("message", "subject", "attribute", "value")})
    ),
    "with useless claims": lambda answer: json.dumps(
        {**answer, "claims": [{"message": 1, "subject": None}, *answer["claims"], "no claim", {"message": 99}]}
    ),
    "in a fence": lambda answer: f"```json\n{json.dumps(answer, indent=1)}\n```",
    "in chat": lambda answer: f"Sure, {{here}} it is: {json.dumps(answer)} Is there anything else?",
    "after thoughts": lambda answer: f'<think>{{"claims": []}} or so?</think>{json.dumps(answer)}',
    "with other words quoted": lambda answer: json.dumps(
        changed(answer, lambda one: {**one, "quote": "the speaker says so in other words"})
    ),
    "twice": lambda answer: f"{json.dumps(answer)}\n\n{json.dumps(answer)}",
    "in two parts": lambda answer: json.dumps({"claims": answer["claims"]}) + "\n" + json.dumps({"names": []}),
    "a claim a line": lambda answer: "\n".join(map(json.dumps, answer["claims"])),
    "as Python": lambda answer: str(changed(answer, lambda one: {**one, "since": None})),
    "in an object more": lambda answer: json.dumps({"result": answer}),
    "by message": lambda answer: json.dumps(by_message(answer)),
    "in capitals": lambda answer: json.dumps(changed(answer, lambda one: {**one, "state": "Holds"})),
    "nothing about one message": refused_for_one,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_claim_counts_whatever_the_form_of_the_answer(
    config: MemoryConfig, model: ModelServer, form: str
) -> None:
    model.claims, model.form = claims_of, FORMS[form]
    settings = {"knowledge": "claims, slots"}
    lost = {one for one in CLAIMS if form == "nothing about one message" and one[1] == "hunter2"}
    with NeuroGraphMemory(config.replace(metabolism=settings, llm={"wait": False})) as memory:
        texts = {said(memory, text, day): text for day, text in enumerate(TOLD)}
        memory.flush()
        facts = memory.facts.list(user_id="ana")
        assert {(texts[name], one.value) for one in facts for name in one.sources} == CLAIMS - lost
        assert [texts[name] for name in memory.learning.parked()] == [text for text, _ in lost]
