"""The text of a cluster or of a profile from a language model."""

from __future__ import annotations

import logging

from neurogated.core.ports import LanguageModel
from neurogated.errors import LLMError
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.text.keywords import split_keywords

_log = logging.getLogger(__name__)


class Summariser:
    """Asks a language model to merge memories into one text."""

    def __init__(self, model: LanguageModel, prompts: PromptTemplateManager) -> None:
        """Take the model and the words of the request."""
        self._model = model
        self._prompts = prompts

    def summary(self, memories: str) -> str:
        """Return the model's text of memories, one a line.

        It is empty if the model failed or says that the memories contradict each other, if its text has a number that
        no memory has, or if it is longer than the memories.
        """
        messages = self._prompts.render("consolidation", memories=memories)
        try:
            answer = self._model.infer_json(messages, self._prompts.schema("consolidation"))
        except LLMError as error:
            _log.warning("the language model merged no memories: %s", error)
            return ""
        text = str(answer["fact"]).strip()
        fault = _fault(text, memories)
        if fault:
            _log.warning("the language model's text was not used: %s", fault)
        return "" if fault else text


def _fault(text: str, memories: str) -> str:
    """Return why a text says something else than these memories; empty if it may say the same."""
    if len(text) > len(memories):
        return "it is longer than the memories together"
    if "\0" in text:
        return "it has a NUL character"
    invented = _numbers(text) - _numbers(memories)
    return f"no memory has {', '.join(sorted(invented))}" if invented else ""


def _numbers(text: str) -> set[str]:
    return {word for word in split_keywords(text) if any(map(str.isdigit, word))}
