"""`CommunityNamer`: names of communities from a language model."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from neurogated.core.ports import LanguageModel
from neurogated.errors import LLMError
from neurogated.prompts.prompt_manager import PromptTemplateManager

_KEYWORDS = 12
_LONGEST = 60

_log = logging.getLogger(__name__)


class CommunityNamer:
    """Asks a language model for short names."""

    most = 12
    """Communities that one call names."""

    def __init__(self, model: LanguageModel, prompts: PromptTemplateManager) -> None:
        """Take the model and the words of the request."""
        self._model, self._prompts = model, prompts

    def names(self, keywords: Sequence[Sequence[str]]) -> list[str]:
        """Return a name for each community by its keywords; empty where the model gave none that fits."""
        groups = "\n".join(", ".join(some[:_KEYWORDS]) for some in keywords)
        messages = self._prompts.render("community_names", groups=groups)
        try:
            answer = self._model.infer_json(messages, self._prompts.schema("community_names"))
        except LLMError as error:
            _log.warning("the language model named no communities: %s", error)
            return [""] * len(keywords)
        names = [" ".join(str(name).split()) for name in answer["names"]]
        if len(names) != len(keywords):
            _log.warning("the language model gave %d names for %d communities", len(names), len(keywords))
            return [""] * len(keywords)
        return [name if len(name) <= _LONGEST and "\0" not in name else "" for name in names]
