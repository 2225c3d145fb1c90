from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from neurogated.core.abilities import SupportsStatistics
from neurogated.errors import LLMError
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
