from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from neurogated.errors import BudgetExceededError, LLMError
from neurogated.llm.cache import CachedLLM
from neurogated.llm.limits import LimitedLLM

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


def test_the_limit_holds_for_ainfer(server: Server) -> None:
    server.gathers(2)
    llm = LimitedLLM(server.llm(), concurrency=2)

    async def ask() -> None:
        await asyncio.gather(*(llm.ainfer(asked(number)) for number in range(4)))

    asyncio.run(ask())

    assert server.most_at_once == 2
    assert llm.calls == 4


def test_a_failed_call_makes_room_for_the_next(server: Server) -> None:
    server.refuses(500)
    server.says("Hello.")
    llm = LimitedLLM(server.llm(), concurrency=1)

    with pytest.raises(LLMError):
        llm.infer(asked(0))
    assert llm.infer(asked(0))[0] == "Hello."
    assert llm.calls == 2


def test_without_a_budget_nothing_stops(server: Server) -> None:
    server.says("Hello.", usage=(5, 2))
    llm = LimitedLLM(server.llm(), concurrency=1)
    for number in range(5):
        llm.infer(asked(number))

    assert (llm.calls, llm.tokens) == (5, 35)
    assert llm.statistics() == {"calls": 5, "prompt tokens": 25, "completion tokens": 10}


def test_calls_stop_at_the_budget_and_name_the_setting(server: Server) -> None:
    server.says("Hello.")
    llm = LimitedLLM(server.llm(), concurrency=2, max_calls=2)
    llm.infer(asked(0))
    llm.infer(asked(1))

    with pytest.raises(BudgetExceededError, match=r"all 2 calls .* raise llm\.max_calls .* cache has all answers"):
        llm.infer(asked(2))
    assert len(server.requests) == 2


def test_many_threads_make_no_call_more_than_the_budget(server: Server) -> None:
    server.says("Hello.")
    llm = LimitedLLM(server.llm(), concurrency=8, max_calls=5)

    with ThreadPoolExecutor(max_workers=8) as pool:
        errors = [future.exception() for future in [pool.submit(llm.infer, asked(number)) for number in range(20)]]

    assert len(server.requests) == 5
    assert [type(error) for error in errors].count(BudgetExceededError) == 15


def test_tokens_stop_at_the_budget_and_name_the_setting(server: Server) -> None:
    server.says("Hello.", usage=(6, 4))
    llm = LimitedLLM(server.llm(), concurrency=2, max_tokens=11)
    llm.infer(asked(0))
    llm.infer(asked(1))

    with pytest.raises(BudgetExceededError, match=r"used 20 tokens, .* allows 11; raise llm\.max_tokens"):
        llm.infer(asked(2))
    assert len(server.requests) == 2


@pytest.mark.parametrize("budget", [{"max_calls": 0}, {"max_tokens": 0}])
def test_a_budget_of_nothing_allows_nothing(server: Server, budget: dict[str, int]) -> None:
    server.says("never")

    with pytest.raises(BudgetExceededError):
        LimitedLLM(server.llm(), concurrency=1, **budget).infer(asked(0))
    assert not server.requests


def test_a_second_run_goes_on_where_the_budget_stopped_the_first(server: Server, tmp_path: Path) -> None:
    server.says("Hello.")

    def run() -> int:
        llm = CachedLLM(LimitedLLM(server.llm(), concurrency=1, max_calls=3), tmp_path / "answers.db")
        answered = 0
        try:
            for number in range(7):
                llm.infer(asked(number))
                answered += 1
        except BudgetExceededError:
            pass
        finally:
            llm.close()
        return answered

    assert [run() for _ in range(4)] == [3, 6, 7, 7]
    assert len(server.requests) == 7


def test_name_and_parameters_are_the_models(server: Server) -> None:
    inner = server.llm()
    llm = LimitedLLM(inner, concurrency=1)

    assert llm.name == "test-model"
    assert llm.parameters == inner.parameters
