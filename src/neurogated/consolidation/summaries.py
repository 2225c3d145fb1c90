"""The fact of a cluster from a language model."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import combinations

from neurogated.consolidation.facts import quoted
from neurogated.consolidation.sentence_cover import Sentence, rivals
from neurogated.core.model import MemoryNode
from neurogated.core.ports import LanguageModel
from neurogated.errors import LLMError
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.text.keywords import split_keywords

__all__ = ["Summariser"]

_log = logging.getLogger(__name__)


class Summariser:
    """Asks a language model to merge the memories of a cluster into one text."""

    def __init__(self, model: LanguageModel, prompts: PromptTemplateManager, rivalry: float) -> None:
        """Take the model.

        Args:
            model: merges the memories.
            prompts: the words of the request.
            rivalry: sentences with this share of common words, but different numbers, may contradict each other.
        """
        self._model = model
        self._prompts = prompts
        self._rivalry = rivalry

    def summary(self, sources: Sequence[MemoryNode], sentences: Sequence[Sentence]) -> tuple[str, bool]:
        """Return the model's text, and whether it was called.

        The text is empty if the memories may contradict each other, if the model failed, if its text has a number
        that no memory has, or if it is longer than the memories.
        """
        if any(rivals(first, second, self._rivalry) for first, second in combinations(sentences, 2)):
            return "", False
        memories = quoted(sources, sentences)
        messages = self._prompts.render("consolidation", memories=memories)
        try:
            answer = self._model.infer_json(messages, self._prompts.schema("consolidation"))
        except LLMError as error:
            _log.warning("the language model made no fact, so sentences are chosen: %s", error)
            return "", True
        text = str(answer["fact"]).strip()
        fault = _fault(text, memories)
        if fault:
            _log.warning("the language model's fact was not used: %s", fault)
        return "" if fault else text, True


def _fault(text: str, memories: str) -> str:
    """Return why a text is no fact of these memories; empty if it may be one."""
    if len(text) > len(memories):
        return "it is longer than the memories together"
    if "\0" in text:
        return "it has a NUL character"
    invented = _numbers(text) - _numbers(memories)
    return f"no memory has {', '.join(sorted(invented))}" if invented else ""


def _numbers(text: str) -> set[str]:
    return {word for word in split_keywords(text) if any(map(str.isdigit, word))}
