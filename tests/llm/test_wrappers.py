"""What wraps a model: the limits of a run, the cache of answers, and how both take a model of one's own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from neurogated import MemoryConfig
from neurogated.config.groups import LLMSettings
from neurogated.core.abilities import SupportsStatistics
from neurogated.core.ports import Message
from neurogated.errors import BudgetExceededError, ConfigError, LLMError
from neurogated.llm.base import BaseLLM, Meta
from neurogated.llm.factory import with_limits
from neurogated.llm.structured import StructuredLLM
from neurogated.llm.wrappers import CachedLLM, LimitedLLM

if TYPE_CHECKING:
    from tests.llm.conftest import Server

ASKED = [{"role": "user", "content": "你好 {world}"}]
SCHEMA = {"type": "object"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "answers.db"


def test_a_repeated_question_makes_no_call(server: Server, path: Path) -> None:
    server.says("Hello.", usage=(5, 2))
    llm = CachedLLM(server.llm(), path)

    fresh, kept = llm.infer(ASKED), llm.infer(ASKED)
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
        assert llm.infer(ASKED)[0] == expected
        llm.close()

    assert len(server.requests) == 2


def test_failures_and_empty_answers_are_not_kept(server: Server, path: Path) -> None:
    server.refuses(500)
    server.says(" \n")
    server.says("Hello.")
    llm = CachedLLM(server.llm(), path)

    with pytest.raises(LLMError):
        llm.infer(ASKED)
    assert [llm.infer(ASKED)[0] for _ in range(3)] == [" \n", "Hello.", "Hello."]
    llm.close()


def test_calls_tokens_hits_and_misses_are_counted_through_all_wrappers(server: Server, path: Path) -> None:
    server.says('{"a": 1}', usage=(5, 2))
    llm = StructuredLLM(CachedLLM(LimitedLLM(server.llm(), concurrency=1), path))
    assert isinstance(llm, SupportsStatistics)
    for text in "aab":
        llm.infer_json([{"role": "user", "content": text}], SCHEMA)

    figures = llm.statistics()
    assert figures.pop("cache bytes") > 0
    assert figures == {
        "calls": 2, "prompt tokens": 10, "completion tokens": 4,
        "cache hits": 1, "cache misses": 2, "cache hit rate": 1 / 3,
    }  # fmt: skip
    llm.close()


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


class Echo(BaseLLM):
    """The smallest possible model of one's own."""

    @property
    def name(self) -> str:
        return "echo"

    def infer(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> tuple[str, Meta]:
        text = f"{messages[-1]['content']} {schema} {threading.get_ident() == threading.main_thread().ident}"
        return text, {"prompt_tokens": 1, "completion_tokens": 1, "finish_reason": "stop"}


def test_ainfer_is_infer_in_another_thread() -> None:
    text, _ = asyncio.run(Echo().ainfer([{"role": "user", "content": "hi"}], schema={}))

    assert text == "hi {} False"


class Plain(BaseLLM):
    """A model without schemas and without metadata of its answers."""

    def infer(self, messages: Sequence[Message]) -> tuple[str, Meta]:  # type: ignore[override]
        return f'{{"said": "{messages[-1]["content"]}"}}', {}


def test_a_model_without_schemas_works_with_all_wrappers(tmp_path: Path) -> None:
    limited = LimitedLLM(Plain(), concurrency=1)
    model = StructuredLLM(CachedLLM(limited, tmp_path / "answers.db"))

    assert model.infer_json([{"role": "user", "content": "two words"}], {"type": "object"}) == {"said": "two words"}
    assert model.name == "Plain"
    assert limited.statistics()["prompt tokens"] == 2
    model.close()
