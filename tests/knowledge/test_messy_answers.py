"""Answers in the many forms that small models give them: every valid claim counts, and unread memories are named."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from tests.golden import rows
from tests.knowledge.model_server import ModelServer, Pair, said

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
