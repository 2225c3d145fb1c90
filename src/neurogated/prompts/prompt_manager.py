"""All prompts by name."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from neurogated.core.ports import Message
from neurogated.errors import ConfigError
from neurogated.prompts.prompt_template import PromptTemplate, few_shot
from neurogated.text.strings import table_of

_FOLDER = "neurogated.prompts.templates"


@functools.cache
def built_in_prompt(name: str) -> PromptTemplate:
    """Return the prompt in the file of the package with this name."""
    parts = table_of(_FOLDER, name)
    shown = ({**one} for one in parts["examples"])
    examples = few_shot(parts["user"], ((one, json.loads(one.pop("answer"))) for one in shown))
    schema = json.loads(parts["schema"])
    return PromptTemplate(name, parts["version"], parts["system"], examples, parts["user"], schema)


class PromptTemplateManager:
    """Renders the prompts of the package, or your replacements.

    Example:
        >>> PromptTemplateManager().render("ner", text="Ada Lovelace was born in London.")[-1]["role"]
        'user'
    """

    def __init__(self, templates: Iterable[PromptTemplate] = ()) -> None:
        """Collect the prompts; one of `templates` replaces the built-in prompt of its name."""
        files = (Path(file.name) for file in resources.files(_FOLDER).iterdir())
        built_in = (built_in_prompt(file.stem) for file in files if file.suffix == ".toml")
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
