from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from neurogated import MemoryConfig
from neurogated.config.groups import LLMSettings
from neurogated.errors import BudgetExceededError, ConfigError
from neurogated.llm.factory import with_limits
from neurogated.llm.wrappers import LimitedLLM

if TYPE_CHECKING:
    from neurogated.core.ports import Message
    from tests.llm.conftest import Server


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
