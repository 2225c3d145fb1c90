"""A prompt, with its parts and its rendering; and all prompts by name."""

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from neurogated.core.ports import Message
from neurogated.errors import ConfigError, InputError
from neurogated.text.strings import table_of

_FOLDER = "neurogated.prompts.templates"
STRENGTHS = ("weak", "medium", "strong")
"""Words that a model chooses from instead of a number. Small models distinguish them, but their numbers are noise."""


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """The complete prompt of one task."""

    name: str
    version: str
    """Changes with every change of the words."""
    system: str
    examples: tuple[Message, ...]
    """Turns of user and assistant that show requests with their right answers."""
    user: str
    """The request. The text `value` replaces `$value`; `$$` is a dollar sign."""
    schema: Mapping[str, Any]
    """JSON schema of the answer. Strict servers demand that objects require every field and allow no others."""

    @property
    def values(self) -> tuple[str, ...]:
        """Names of the values in the request."""
        return tuple(Template(self.user).get_identifiers())

    def render(self, values: Mapping[str, str]) -> list[Message]:
        """Return the messages with `values` inserted verbatim into the request.

        Raises:
            InputError: a value is missing, unknown or not a text.
        """
        if set(values) != set(self.values) or not all(isinstance(value, str) for value in values.values()):
            given = ", ".join(f"{name} ({type(value).__name__})" for name, value in values.items()) or "nothing"
            raise InputError(f"prompt {self.name!r} takes the texts {', '.join(self.values)}, but was given {given}")
        request = Template(self.user).substitute(values)
        return [{"role": "system", "content": self.system}, *self.examples, {"role": "user", "content": request}]


def few_shot(user: str, examples: Iterable[tuple[Mapping[str, str], Mapping[str, Any]]]) -> tuple[Message, ...]:
    """Return examples, the values of a request with the right answer as a JSON object, as turns of a conversation."""
    turns: list[Message] = []
    for values, answer in examples:
        turns.append({"role": "user", "content": Template(user).substitute(values)})
        turns.append({"role": "assistant", "content": json.dumps(answer, ensure_ascii=False)})
    return tuple(turns)


def role_pairs(prompt: PromptTemplate) -> list[tuple[str, str]]:
    """Return system text and request as pairs of role and text for `str.format`, as in `text.format(query="Why?")`.

    The pairs omit the examples of a prompt; `PromptTemplate.render` includes them.
    """
    escaped = (text.replace("{", "{{").replace("}", "}}") for text in (prompt.system, prompt.user))
    values = {name: f"{{{name}}}" for name in prompt.values}
    return list(zip(("system", "user"), (Template(text).safe_substitute(values) for text in escaped), strict=True))


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
