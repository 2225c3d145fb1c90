"""Language models by name, and what they have in common."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from neurogated import MemoryConfig
from neurogated.config.groups import LLMSettings
from neurogated.core.ports import Message
from neurogated.errors import ConfigError
from neurogated.llm.anthropic_llm import AnthropicLLM
from neurogated.llm.base import BaseLLM, Meta
from neurogated.llm.factory import get_llm, llm_is_configured
from neurogated.llm.local_llm import LocalLLM
from neurogated.llm.openai_llm import OpenAILLM
from neurogated.llm.structured import StructuredLLM
from neurogated.llm.wrappers import CachedLLM, LimitedLLM

SERVER = "http://127.0.0.1:1/v1"


@pytest.mark.parametrize(
    ("name", "base_url", "expected"),
    [
        ("gpt-4o-mini", None, OpenAILLM),
        ("claude-sonnet-4-5", None, AnthropicLLM),
        ("meta-llama/Llama-3.3-70B-Instruct", None, LocalLLM),
        ("meta-llama/Llama-3.3-70B-Instruct", SERVER, OpenAILLM),
        ("claude-sonnet-4-5", SERVER, OpenAILLM),
        ("gpt-4o-mini", SERVER, OpenAILLM),
    ],
)
def test_the_name_chooses_unless_there_is_a_server(
    name: str, base_url: str | None, expected: type[BaseLLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = MemoryConfig(llm_name=name, llm_base_url=base_url, temperature=0.5, max_new_tokens=9)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    llm = get_llm(config)

    assert type(llm) is expected
    assert llm.name == name
    assert llm.parameters == {"model": name, "temperature": 0.5, "max_new_tokens": 9}
    llm.close()


@pytest.mark.parametrize(
    ("name", "variable"), [("gpt-4o-mini", "OPENAI_API_KEY"), ("claude-sonnet-4-5", "ANTHROPIC_API_KEY")]
)
def test_a_missing_key_is_named(name: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "")
    with pytest.raises(ConfigError):
        get_llm(MemoryConfig(llm_name=name))


@pytest.mark.parametrize(
    ("name", "base_url", "key", "anthropic_key", "expected"),
    [
        ("gpt-4o-mini", None, None, None, False),
        ("gpt-4o-mini", None, "", "k", False),
        ("gpt-4o-mini", None, "k", None, False),
        ("gpt-4o-mini", SERVER, None, None, True),
        ("gpt-4o-mini", "", None, None, False),
        ("claude-sonnet-4-5", None, "k", None, False),
        ("claude-sonnet-4-5", None, "k", "", False),
        ("claude-sonnet-4-5", None, None, "k", True),
        ("claude-sonnet-4-5", SERVER, None, None, True),
        ("Qwen/Qwen2.5-0.5B-Instruct", None, "k", "k", False),
        ("", None, "k", "k", False),
    ],
)
def test_a_model_is_there_if_it_could_be_asked(
    name: str, base_url: str | None, key: str | None, anthropic_key: str | None, *, expected: bool
) -> None:
    config = MemoryConfig(llm_name=name, llm_base_url=base_url)

    assert llm_is_configured(config, key, anthropic_key) is expected


@pytest.mark.parametrize(
    ("llm", "key", "expected"),
    [("auto", "k", True), ("auto", None, False), ("off", "k", False), ("gpt-5", "k", True), ("gpt-5", None, False)],
)
def test_a_key_is_used_where_a_setting_asks_for_a_model(llm: str, key: str | None, *, expected: bool) -> None:
    assert llm_is_configured(MemoryConfig(llm=LLMSettings(use=llm)), key) is expected


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
