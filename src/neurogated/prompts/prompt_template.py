"""A prompt: its parts and its rendering."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from string import Template
from typing import Any

from neurogated.core.ports import Message
from neurogated.errors import InputError

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
