"""Language models: factory, interface, and their judgements."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any

import pytest

from neurogated import MemoryConfig, extract_causal_edges
from neurogated.errors import ConfigError
from neurogated.llm.anthropic_llm import AnthropicLLM
from neurogated.llm.base import BaseLLM
from neurogated.llm.factory import get_llm
from neurogated.llm.local_llm import LocalLLM
from neurogated.llm.openai_llm import OpenAILLM
from neurogated.llm.structured import StructuredLLM

MESSAGES = [{"role": "user", "content": "Hello"}]


@pytest.fixture
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")


@pytest.mark.usefixtures("_key")
@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (MemoryConfig(), OpenAILLM),
        (MemoryConfig(llm_name="gpt-4o"), OpenAILLM),
        (MemoryConfig(llm_name="claude-sonnet-4-5"), AnthropicLLM),
        (MemoryConfig(llm_name="meta-llama/Llama-3.3-70B-Instruct"), LocalLLM),
        (
            MemoryConfig(llm_base_url="http://localhost:8000/v1", llm_name="meta-llama/Llama-3.3-70B-Instruct"),
            OpenAILLM,
        ),
    ],
)
def test_the_factory_chooses_by_name(config: MemoryConfig, expected: type[BaseLLM]) -> None:
    llm = get_llm(config)

    assert isinstance(llm, expected)
    assert isinstance(llm, BaseLLM)
    assert llm.name == config.llm_name
    llm.close()


@pytest.mark.usefixtures("_key")
@pytest.mark.parametrize("kind", [OpenAILLM, AnthropicLLM, LocalLLM])
def test_a_model_takes_the_settings(kind: type[OpenAILLM | AnthropicLLM | LocalLLM]) -> None:
    llm = kind(MemoryConfig(llm_name="some-model", temperature=0.5, max_new_tokens=99))

    assert llm.parameters == {"model": "some-model", "temperature": 0.5, "max_new_tokens": 99}
    llm.close()


@pytest.mark.usefixtures("_key")
def test_a_model_takes_the_settings_by_name() -> None:
    llm = OpenAILLM(config=MemoryConfig())
    llm.close()

    assert get_llm(config=MemoryConfig()).name == "gpt-4o-mini"


def test_a_server_of_ones_own_wants_no_key() -> None:
    llm = OpenAILLM(MemoryConfig(llm_base_url="http://localhost:8000/v1"))
    llm.close()


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ConfigError):
        OpenAILLM(MemoryConfig())


class Mine(BaseLLM):
    """The interface as the specification types it, without `ainfer`."""

    def infer(self, messages: list[dict[str, str]]) -> tuple[str, dict[str, Any]]:  # type: ignore[override]
        """Answer."""
        return json.dumps({"causal": True, "strength": "strong", "reason": messages[-1]["content"]}), {}


class Both(Mine):
    """The interface with both methods."""

    async def ainfer(self, messages: list[dict[str, str]]) -> tuple[str, dict[str, Any]]:  # type: ignore[override]
        """Answer."""
        return f"later: {messages[-1]['content']}", {}


def test_the_interface_is_abstract() -> None:
    with pytest.raises(TypeError):
        BaseLLM()  # type: ignore[abstract]


@pytest.mark.parametrize("kind", [Mine, Both])
def test_a_model_of_ones_own_answers(kind: type[Mine]) -> None:
    text, meta = kind().infer(MESSAGES)

    assert (json.loads(text)["reason"], meta) == ("Hello", {})


def test_a_model_of_ones_own_answers_asynchronously() -> None:
    assert asyncio.run(Both().ainfer(MESSAGES)) == ("later: Hello", {})
    assert asyncio.run(Mine().ainfer(MESSAGES)) == Mine().infer(MESSAGES)


def test_a_model_of_ones_own_judges_causes() -> None:
    from neurogated.ingestion.llm_analysers import LLMCausalJudge
    from neurogated.prompts.prompt_manager import PromptTemplateManager

    judge = LLMCausalJudge(StructuredLLM(Mine()), PromptTemplateManager(), MemoryConfig())

    assert extract_causal_edges("The dam broke.", "The field was flooded.", judge=judge) == (True, 1.0)


def test_causes_are_a_pair_of_bool_and_weight() -> None:
    has_causality, weight = extract_causal_edges("The dam broke.", "Because of this, the field was flooded.")

    assert has_causality is True
    assert 0.0 < weight <= 1.0
    assert extract_causal_edges("The dam broke.", "Bread is baked at four.") == (False, 0.0)


def test_the_key_of_a_cache_is_a_hash_of_the_request() -> None:
    llm = Mine()
    asked = {"messages": MESSAGES, "model": llm.name, "temperature": MemoryConfig().temperature}
    cache_key = hashlib.sha256(json.dumps(asked).encode()).hexdigest()

    assert len(cache_key) == 64
