"""Causes and names from a language model. The model answers with labels; numbers are derived from the labels."""

from __future__ import annotations

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.judgements import CausalJudgement
from neurogated.core.ports import LanguageModel
from neurogated.prompts.prompt_manager import PromptTemplateManager

__all__ = ["LLMCausalJudge", "LLMEntityFinder"]


class LLMCausalJudge:
    """Asks a language model whether one of two texts causes the other."""

    def __init__(self, llm: LanguageModel, prompts: PromptTemplateManager, config: MemoryConfig) -> None:
        self._llm = llm
        self._prompts = prompts
        self._config = config

    def judge(self, first: str, second: str) -> CausalJudgement:
        """Return the model's judgement.

        Raises:
            LLMError: the model failed.
        """
        messages = self._prompts.render("causal_extraction", first=first, second=second)
        answer = self._llm.infer_json(messages, self._prompts.schema("causal_extraction"))
        weight = self._config.llm.strength(answer["strength"]) if answer["causal"] else 0.0
        return CausalJudgement(weight > 0, weight, str(answer["reason"]))


class LLMEntityFinder:
    """Asks a language model for the names in a text."""

    def __init__(self, llm: LanguageModel, prompts: PromptTemplateManager) -> None:
        self._llm = llm
        self._prompts = prompts

    def find(self, text: str) -> tuple[str, ...]:
        """Return the model's names that occur in the text, each once.

        Raises:
            LLMError: the model failed.
        """
        answer = self._llm.infer_json(self._prompts.render("ner", text=text), self._prompts.schema("ner"))
        return tuple(dict.fromkeys(name for name in answer["entities"] if name and name in text))
