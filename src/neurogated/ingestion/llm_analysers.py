"""Causes and importance from a language model. It answers with labels; numbers are derived from the labels."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.judgements import CausalJudgement
from neurogated.core.ports import LanguageModel
from neurogated.errors import LLMError
from neurogated.ingestion.importance import OfflineImportanceJudge, Remark
from neurogated.prompts.prompt_manager import PromptTemplateManager

_NONE = "none"
_TOGETHER = 16
"""Texts in a call: answers on more get out of step with the texts."""

_log = logging.getLogger(__name__)


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


class LLMImportanceJudge:
    """Asks a language model which texts are worth remembering, many texts in a call."""

    def __init__(self, llm: LanguageModel, prompts: PromptTemplateManager, config: MemoryConfig) -> None:
        self._llm = llm
        self._prompts = prompts
        self._config = config
        self._fallback = OfflineImportanceJudge()

    def judge(self, remarks: Sequence[Remark]) -> list[float]:
        """Return the importance of each text; where the model fails, that of the offline judge."""
        groups = [remarks[begin : begin + _TOGETHER] for begin in range(0, len(remarks), _TOGETHER)]
        return [value for group in groups for value in self._judged(group)]

    def _judged(self, remarks: Sequence[Remark]) -> list[float]:
        texts = "\n".join(
            f"{number}. {remark.speaker or remark.role}: {remark.text}"
            if remark.speaker or remark.role
            else f"{number}. {remark.text}"
            for number, remark in enumerate(remarks, 1)
        )
        try:
            messages = self._prompts.render("importance", texts=texts)
            labels = self._llm.infer_json(messages, self._prompts.schema("importance"))["labels"]
        except LLMError as error:
            _log.warning("the importance of %d texts is judged offline: %s", len(remarks), error)
            return self._fallback.judge(remarks)
        if len(labels) != len(remarks):
            _log.warning("the model judged %d of %d texts; they are judged offline", len(labels), len(remarks))
            return self._fallback.judge(remarks)
        return [0.0 if label == _NONE else self._config.llm.strength(label) for label in labels]
