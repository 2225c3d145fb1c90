"""Who says a text: the roles of messages, and names before a colon, as in "Ann: Hello."."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from neurogated.errors import InputError

_WORDS = {
    "user": ("user", "human"),
    "assistant": ("assistant", "ai", "model", "bot", "chatbot", "gpt"),
    "system": ("system", "developer"),
    "tool": ("tool", "function", "observation", "ipython"),
}
ROLES: Mapping[str, str] = {word: role for role, words in _WORDS.items() for word in words}
"""The role that each known word, in lower case, stands for."""
_KNOWN = "; ".join(f"{', '.join(words)} → {role}" for role, words in _WORDS.items())

_LONGEST = 40
_NAME = r"[^\W\d_a-z][^\W\d_]*[.'\u2019-]?[^\W\d_]*\.?"
_LABEL = re.compile(rf"\s*({_NAME}(?: {_NAME}){{0,2}})[:\uff1a]\s*(?=\S)")


def known_role(role: object, role_map: Mapping[str, str] | None = None) -> str:
    """Return the role `user`, `assistant`, `system` or `tool` that a word stands for; case makes no difference.

    Args:
        role: the word, such as `human` or `AI`.
        role_map: further words with what they stand for.

    Raises:
        InputError: neither the map nor `ROLES` has the word.
    """
    words = ROLES if role_map is None else {**ROLES, **_checked_map(role_map)}
    found = words.get(role.strip().casefold()) if isinstance(role, str) else None
    if found is None:
        raise InputError(f"the role {role!r} is unknown; known are {_KNOWN}; or say what it is by role_map")
    return found


def _checked_map(role_map: Any) -> dict[str, str]:  # noqa: ANN401 - anything that a caller gives
    if not isinstance(role_map, Mapping) or not all(isinstance(word, str) for word in role_map):
        raise InputError(f'the role_map is {role_map!r}, but must map words to roles, as in {{"customer": "user"}}')
    return {word.strip().casefold(): known_role(role) for word, role in role_map.items()}


def labelled_speaker(text: str) -> str | None:
    """Return the name before a colon at the beginning of a text, None if there is none.

    The name has one to three capitalised words and up to 40 characters. "Note: buy milk" has the same form, so nobody
    may be shown as the speaker of a text because of it, unless the caller says that texts name their speakers.
    """
    label = _label(text)
    return None if label is None else label[1]


def spoken_parts(text: str) -> list[tuple[str | None, str]]:
    """Return the parts of a text that names its speakers, each with its speaker and without this name.

    A part begins at each line that begins with a name and a colon. Lines before the first one have no speaker.
    """
    parts: list[tuple[str | None, list[str]]] = [(None, [])]
    for line in text.splitlines(keepends=True):
        label = _label(line)
        if label is not None:
            parts.append((label[1], []))
        parts[-1][1].append(line if label is None else line[label.end() :])
    said = [(speaker, "".join(lines).strip()) for speaker, lines in parts]
    return [one for one in said if one[1]]


def _label(text: str) -> re.Match[str] | None:
    label = _LABEL.match(text[: _LONGEST + 2])
    return label if label is not None and label[1][0].isupper() else None
