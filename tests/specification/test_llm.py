"""Language models: factory, interface, and their judgements."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from neurogated import MemoryConfig, extract_causal_edges
from neurogated.llm.base import BaseLLM
from neurogated.llm.factory import get_llm
from neurogated.llm.openai_llm import OpenAILLM
from neurogated.llm.structured import StructuredLLM

MESSAGES = [{"role": "user", "content": "Hello"}]


@pytest.fixture
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")


@pytest.mark.usefixtures("_key")
def test_a_model_takes_the_settings_by_name() -> None:
    llm = OpenAILLM(config=MemoryConfig())
    llm.close()

    assert get_llm(config=MemoryConfig()).name == "gpt-4o-mini"


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


def test_a_model_of_ones_own_answers_asynchronously() -> None:
    assert asyncio.run(Both().ainfer(MESSAGES)) == ("later: Hello", {})
    assert asyncio.run(Mine().ainfer(MESSAGES)) == Mine().infer(MESSAGES)


def test_a_model_of_ones_own_judges_causes() -> None:
    from neurogated.ingestion.causality import LLMCausalJudge
    from neurogated.prompts.prompt_manager import PromptTemplateManager

    judge = LLMCausalJudge(StructuredLLM(Mine()), PromptTemplateManager(), MemoryConfig())

    assert extract_causal_edges("The dam broke.", "The field was flooded.", judge=judge) == (True, 1.0)


def test_causes_are_a_pair_of_bool_and_weight() -> None:
    has_causality, weight = extract_causal_edges("The dam broke.", "Because of this, the field was flooded.")

    assert has_causality is True
    assert 0.0 < weight <= 1.0
    assert extract_causal_edges("The dam broke.", "Bread is baked at four.") == (False, 0.0)
