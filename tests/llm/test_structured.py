"""The wrappers of language models: answers by a schema, limits of calls, and the cache."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from neurogated.errors import LLMError
from neurogated.llm.structured import StructuredLLM, _fitting_object, _UnfitAnswerError
from neurogated.llm.wrappers import CachedLLM

if TYPE_CHECKING:
    from tests.llm.conftest import Server
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from neurogated import MemoryConfig
from neurogated.config.groups import LLMSettings
from neurogated.errors import BudgetExceededError, ConfigError
from neurogated.llm.factory import with_limits
from neurogated.llm.wrappers import LimitedLLM

if TYPE_CHECKING:
    from neurogated.core.ports import Message
    from tests.llm.conftest import Server
from typing import TYPE_CHECKING

from neurogated.core.abilities import SupportsStatistics

if TYPE_CHECKING:
    from tests.llm.conftest import Server


ASKED = [{"role": "user", "content": "Which kind?"}]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"kind": {"type": "string", "enum": ["why", "when"]}, "reason": {"type": "string"}},
    "required": ["kind", "reason"],
    "additionalProperties": False,
}
RIGHT = {"kind": "why", "reason": "asks for {a} cause"}
OTHER = {"kind": "when", "reason": ""}
GOOD = json.dumps(RIGHT)
BAD = '{"kind": "because", "reason": "asks for a cause"}'


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(GOOD, id="bare"),
        pytest.param(f"```json\n{GOOD}\n```", id="fenced"),
        pytest.param(f"```\n{GOOD}\n```\n", id="fenced without language"),
        pytest.param(f"Sure! Here is the answer: {GOOD} Anything else?", id="in chat"),
        pytest.param(f"<think>{json.dumps(OTHER)} or not</think>\n\n{GOOD}", id="thought"),
        pytest.param(f"<THINKING>hm {{</THINKING>{GOOD}", id="thought in capitals"),
        pytest.param(f"perhaps {json.dumps(OTHER)}\n</think>\n{GOOD}", id="thought begun by the template"),
        pytest.param(f"<think>a</think><think>{json.dumps(OTHER)}</think>{GOOD}", id="two thoughts"),
        pytest.param(f"It could be {json.dumps(OTHER)}, but it is {GOOD}", id="reasoning before"),
        pytest.param(f"The form is {{kind, reason}}: {GOOD}", id="braces before"),
        pytest.param(f"{GOOD} {{and so on", id="braces after"),
        pytest.param(f'{GOOD}\n\n{{"question": "another one"}}', id="another object after"),
        pytest.param(f'Result: [{GOOD}, {{"n": 1}}]', id="in a list"),
        pytest.param(json.dumps(RIGHT, indent=2), id="over many lines"),
    ],
)
def test_the_answer_is_found(server: Server, text: str) -> None:
    server.says(text)

    assert StructuredLLM(server.llm()).infer_json(ASKED, SCHEMA) == RIGHT
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("text", "repaired", "dropped"),
    [
        pytest.param(GOOD, 0, 0, id="right"),
        pytest.param(json.dumps({**RIGHT, "sure": 0.9, "x": {}}), 0, 2, id="keys of its own"),
        pytest.param(f"{GOOD[:-1]},}}", 1, 0, id="a comma too many"),
        pytest.param(f'Here: {GOOD[:-1]}, "sure": 1,}} I hope.', 1, 1, id="both in chat"),
        pytest.param(GOOD.replace('"kind"', "kind"), 1, 0, id="a key without quotes"),
        pytest.param(GOOD.replace('", "reason"', '" "reason"'), 1, 0, id="a comma too few"),
        pytest.param(
            f"It could be {json.dumps(OTHER)}, but it is {json.dumps({**RIGHT, 'x': 1})}", 0, 1, id="the last"
        ),
    ],
)
def test_small_faults_are_mended_without_a_second_call_and_counted(
    server: Server, text: str, repaired: int, dropped: int
) -> None:
    server.says(text)
    llm = StructuredLLM(server.llm())

    assert llm.infer_json(ASKED, SCHEMA) == RIGHT
    assert len(server.requests) == 1
    figures = llm.statistics()
    assert (figures.get("repaired answers", 0), figures.get("dropped keys", 0)) == (repaired, dropped)


def test_keys_that_no_part_of_the_schema_knows_are_dropped_at_every_depth() -> None:
    inner = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    schema = {"type": "object", "properties": {"all": {"type": "array", "items": inner}}, "additionalProperties": False}
    validator = Draft202012Validator(schema)
    found = _fitting_object('{"all": [{"a": "x", "b": 1}, {"a": "y"}], "c": []}', validator)
    assert (found.value, found.dropped) == ({"all": [{"a": "x"}, {"a": "y"}]}, 2)
    with pytest.raises(_UnfitAnswerError, match="'c' was unexpected"):
        _fitting_object('{"c": []}', validator)


def test_the_schema_goes_with_every_attempt(server: Server) -> None:
    server.says(BAD)
    server.says(GOOD)
    StructuredLLM(server.llm()).infer_json(ASKED, SCHEMA)

    sent = [request["response_format"]["json_schema"]["schema"] for request in server.requests]
    assert sent == [SCHEMA, SCHEMA]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param(BAD, "at $.kind, 'because' is not one of ['why', 'when']", id="not in the schema"),
        pytest.param('{"kind": "why"}', "'reason' is a required property", id="a field missing"),
        pytest.param('{"kind": "why", "reason": "so', "no whole JSON object", id="half"),
        pytest.param("It asks for a cause.", "no whole JSON object", id="no JSON"),
        pytest.param("[1]", "no whole JSON object", id="a list"),
        pytest.param('{"kind": "why", "reason": "\\ud800"}', "no whole JSON object", id="half a character"),
        pytest.param('{"kind": "why", "reason": NaN}', "no whole JSON object", id="NaN"),
        pytest.param('{"kind": ' * 5_000, "no whole JSON object", id="too deep"),
        pytest.param(f"<think>{GOOD}", "no whole JSON object", id="thought without end"),
        pytest.param("", "no whole JSON object", id="nothing"),
    ],
)
def test_a_wrong_answer_is_shown_to_the_model_with_its_error(server: Server, text: str, complaint: str) -> None:
    server.says(text)
    server.says(f"<think>oh</think>{GOOD}")

    assert StructuredLLM(server.llm()).infer_json(ASKED, SCHEMA) == RIGHT

    first, second = (request["messages"] for request in server.requests)
    assert first == ASKED
    assert second[:1] == ASKED
    assert [message["role"] for message in second] == ["user", "assistant", "user"]
    assert all(message["content"] for message in second)
    assert complaint in second[-1]["content"]
    assert json.dumps(SCHEMA) in second[-1]["content"]


def test_answers_of_no_use_do_not_stay_in_the_cache(server: Server, tmp_path: Path) -> None:
    server.says(BAD)
    server.says(BAD)
    server.says('{"kind": "why"', finish="length")
    server.says(GOOD)
    llm = StructuredLLM(CachedLLM(server.llm(), tmp_path / "answers.db"))

    for complaint in ("two answers", "cut off"):
        with pytest.raises(LLMError, match=complaint):
            llm.infer_json(ASKED, SCHEMA)
    assert llm.infer_json(ASKED, SCHEMA) == RIGHT
    assert llm.infer_json(ASKED, SCHEMA) == RIGHT
    llm.close()

    assert len(server.requests) == 4


@given(st.text())
def test_any_reply_of_a_model_is_an_answer_or_a_complaint(text: str) -> None:
    validator = Draft202012Validator(SCHEMA)
    try:
        found = _fitting_object(text, validator).value
    except _UnfitAnswerError:
        return
    assert validator.is_valid(found)


def asked(number: int) -> list[Message]:
    return [{"role": "user", "content": f"question {number}"}]


def test_no_more_calls_run_at_once_than_allowed_and_no_fewer(server: Server) -> None:
    server.gathers(3)
    llm = LimitedLLM(server.llm(), concurrency=3)

    with ThreadPoolExecutor(max_workers=9) as pool:
        texts = [text for text, _ in pool.map(llm.infer, map(asked, range(9)))]

    assert texts == ["done"] * 9
    assert server.most_at_once == 3


def test_many_threads_make_no_call_more_than_the_budget(server: Server) -> None:
    server.says("Hello.")
    llm = LimitedLLM(server.llm(), concurrency=8, max_calls=5)

    with ThreadPoolExecutor(max_workers=8) as pool:
        errors = [future.exception() for future in [pool.submit(llm.infer, asked(number)) for number in range(20)]]

    assert len(server.requests) == 5
    assert [type(error) for error in errors].count(BudgetExceededError) == 15


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        ("2 calls", r"llm\.budget"),
        ("9 calls, 2000 tokens", r"tokens .* 2200, .*llm\.budget"),
        ("0.005 at 2/10.0", r"cost .* 0\.006, .*llm\.budget"),
    ],
)
def test_a_budget_limits_calls_tokens_or_what_they_cost(server: Server, budget: str, told: str) -> None:
    server.says("Hello.", usage=(1_000, 100))
    llm = with_limits(server.llm(), MemoryConfig(llm=LLMSettings(budget=budget)))
    assert isinstance(llm, LimitedLLM)
    for number in range(2):
        llm.infer(asked(number))
        assert llm.statistics().get("cost", 0.003 * (number + 1)) == pytest.approx(0.003 * (number + 1))
    with pytest.raises(BudgetExceededError, match=told):
        llm.infer(asked(2))
    assert len(server.requests) == 2


@pytest.mark.parametrize("budget", ["many calls", "5 dollars", "1,000 calls", "7", "5 at 2", "-1 calls", "1 at 2/x"])
def test_a_budget_that_cannot_be_read_is_refused(budget: str) -> None:
    with pytest.raises(ConfigError, match="500 calls"):
        LLMSettings(budget=budget)


CALLED = [{"role": "user", "content": "你好 {world}"}]
SHAPE = {"type": "object"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "answers.db"


def test_a_repeated_question_makes_no_call(server: Server, path: Path) -> None:
    server.says("Hello.", usage=(5, 2))
    llm = CachedLLM(server.llm(), path)

    fresh, kept = llm.infer(CALLED), llm.infer(CALLED)
    llm.close()

    assert len(server.requests) == 1
    assert fresh[0] == kept[0] == "Hello."
    assert not fresh[1]["cached"]
    assert kept[1] == {**fresh[1], "cached": True}


@pytest.mark.parametrize(
    "changes",
    [{"model": "another"}, {"temperature": 0.7}, {"max_new_tokens": 65}],
    ids=lambda change: next(iter(change)),
)
def test_other_settings_are_another_question(server: Server, path: Path, changes: dict[str, Any]) -> None:
    server.says("one")
    server.says("two")
    for settings, expected in (({}, "one"), (changes, "two"), ({}, "one"), (changes, "two")):
        llm = CachedLLM(server.llm(**settings), path)
        assert llm.infer(CALLED)[0] == expected
        llm.close()

    assert len(server.requests) == 2


def test_failures_and_empty_answers_are_not_kept(server: Server, path: Path) -> None:
    server.refuses(500)
    server.says(" \n")
    server.says("Hello.")
    llm = CachedLLM(server.llm(), path)

    with pytest.raises(LLMError):
        llm.infer(CALLED)
    assert [llm.infer(CALLED)[0] for _ in range(3)] == [" \n", "Hello.", "Hello."]
    llm.close()


def test_calls_tokens_hits_and_misses_are_counted_through_all_wrappers(server: Server, path: Path) -> None:
    server.says('{"a": 1}', usage=(5, 2))
    llm = StructuredLLM(CachedLLM(LimitedLLM(server.llm(), concurrency=1), path))
    assert isinstance(llm, SupportsStatistics)
    for text in "aab":
        llm.infer_json([{"role": "user", "content": text}], SHAPE)

    figures = llm.statistics()
    assert figures.pop("cache bytes") > 0
    assert figures == {
        "calls": 2, "prompt tokens": 10, "completion tokens": 4,
        "cache hits": 1, "cache misses": 2, "cache hit rate": 1 / 3,
    }  # fmt: skip
    llm.close()
