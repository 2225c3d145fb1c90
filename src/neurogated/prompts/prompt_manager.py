"""All prompts by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from neurogated.core.ports import Message
from neurogated.errors import ConfigError
from neurogated.prompts.prompt_template import PromptTemplate
from neurogated.prompts.templates import (
    causal_extraction,
    claims,
    community_names,
    consolidation,
    contradiction,
    dialogue_page,
    dialogue_traits,
    importance,
    kernel_generation,
    ner,
    qa,
)

_BUILT_IN = (
    causal_extraction,
    claims,
    community_names,
    consolidation,
    contradiction,
    dialogue_page,
    dialogue_traits,
    importance,
    kernel_generation,
    ner,
    qa,
)


class PromptTemplateManager:
    """Renders the prompts of the package, or your replacements.

    Example:
        >>> PromptTemplateManager().render("ner", text="Ada Lovelace was born in London.")[-1]["role"]
        'user'
    """

    def __init__(self, templates: Iterable[PromptTemplate] = ()) -> None:
        """Collect the prompts.

        Args:
            templates: your own prompts; a prompt with the name of a built-in prompt replaces it.
        """
        built_in = (
            PromptTemplate(
                name=module.__name__.rpartition(".")[-1],
                version=module.VERSION,
                system=module.SYSTEM,
                examples=module.EXAMPLES,
                user=module.USER,
                schema=module.SCHEMA,
            )
            for module in _BUILT_IN
        )
        self._templates = {template.name: template for template in (*built_in, *templates)}

    def names(self) -> list[str]:
        """Return the names of the prompts, sorted."""
        return sorted(self._templates)

    def version(self, name: str) -> str:
        """Return the version of a prompt. Raises ConfigError for an unknown name."""
        return self._template(name).version

    def schema(self, name: str) -> Mapping[str, Any]:
        """Return the JSON schema of a prompt's answer. Raises ConfigError for an unknown name."""
        return self._template(name).schema

    def render(self, name: str, /, **values: str) -> list[Message]:
        """Return the messages of a prompt with `values` inserted verbatim.

        Raises:
            ConfigError: there is no such prompt.
            InputError: a value is missing, unknown or not a text.
        """
        return self._template(name).render(values)

    def _template(self, name: str) -> PromptTemplate:
        try:
            return self._templates[name]
        except KeyError:
            raise ConfigError(f"unknown prompt {name!r}; known prompts: {', '.join(self.names())}") from None
