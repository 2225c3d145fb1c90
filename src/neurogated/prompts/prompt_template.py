"""A prompt: its parts, and how texts are put into it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from string import Template
from typing import Any

from neurogated.core.ports import Message
from neurogated.errors import InputError

__all__ = ["STRENGTHS", "PromptTemplate", "few_shot", "role_pairs"]

STRENGTHS = ("weak", "medium", "strong")
"""What a model is asked for instead of a number: small models tell these apart, their numbers are noise."""


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """Everything that is said to a model for one task."""

    name: str
    version: str
    """Changes whenever the words do."""
    system: str
    examples: tuple[Message, ...]
    """Turns of user and assistant that show requests with their right answers."""
    user: str
    """The request; `$value` stands where the text called `value` is put, `$$` for a dollar sign."""
    schema: Mapping[str, Any]
    """JSON schema of the answer: objects with every field required and no others, as strict servers want it."""

    @property
    def values(self) -> tuple[str, ...]:
        """Names of the texts that the request takes."""
        return tuple(Template(self.user).get_identifiers())

    def render(self, values: Mapping[str, str]) -> list[Message]:
        """Return the messages with `values` put into the request, unchanged whatever they contain.

        Raises:
            InputError: a value is missing, unknown or not a text.
        """
        if set(values) != set(self.values) or not all(isinstance(value, str) for value in values.values()):
            given = ", ".join(f"{name} ({type(value).__name__})" for name, value in values.items()) or "nothing"
            raise InputError(f"prompt {self.name!r} takes the texts {', '.join(self.values)}, but was given {given}")
        request = Template(self.user).substitute(values)
        return [{"role": "system", "content": self.system}, *self.examples, {"role": "user", "content": request}]


def few_shot(user: str, examples: Iterable[tuple[Mapping[str, str], Mapping[str, Any]]]) -> tuple[Message, ...]:
    """Return example values and their right answers as the turns of a conversation.

    Args:
        user: the request, as in `PromptTemplate.user`.
        examples: what is put into the request, and the answer as a JSON object.
    """
    turns: list[Message] = []
    for values, answer in examples:
        turns.append({"role": "user", "content": Template(user).substitute(values)})
        turns.append({"role": "assistant", "content": json.dumps(answer, ensure_ascii=False)})
    return tuple(turns)


def role_pairs(system: str, user: str) -> list[tuple[str, str]]:
    """Return system text and request as pairs of role and text for `str.format`, as in `text.format(query="Why?")`.

    The examples of a prompt are not part of them; `PromptTemplate.render` puts them in.
    """
    escaped = (text.replace("{", "{{").replace("}", "}}") for text in (system, user))
    values = {name: f"{{{name}}}" for name in Template(user).get_identifiers()}
    return list(zip(("system", "user"), (Template(text).safe_substitute(values) for text in escaped), strict=True))
