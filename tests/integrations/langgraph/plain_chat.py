"""A chat model that reads a few plain sentences."""

from __future__ import annotations

import re
from typing import Any

from neurogated.dialogue.analysts import keywords_of, summary_of
from tests.integrations.langgraph.words import ScriptedChat, lines
from tests.knowledge.plain_reader import plainly_read

_TRAITS = {
    "Living environment": r"I (?:now )?(?:live in|moved to) (?P<value>\w+)",
    "Health": r"I am allergic to (?P<value>\w+)",
    "Age group": r"I am (?P<value>\d+) years old",
    "Music": r"I (?:like|play) (?P<value>\w+(?: \w+)*)",
}


def _page(prompt: str) -> dict[str, Any]:
    text = prompt.partition("\n\nExchange:\n")[2]
    keywords = keywords_of(text)
    return {"continues": False, "summary": summary_of(text, keywords), "keywords": keywords}


def _traits(prompt: str) -> dict[str, Any]:
    found = [
        {"dimension": name, "value": said["value"], "confidence": 0.9, "message": one["message"], "quote": said[0]}
        for one in lines(prompt)
        for name, pattern in _TRAITS.items()
        for said in re.finditer(pattern, one["text"])
    ]
    # What no message says, and what is sensitive, is dropped.
    made_up = {"dimension": "Pets", "value": "a cat", "confidence": 0.9, "message": 1, "quote": "my cat"}
    sensitive = {**made_up, "dimension": "Neuroticism", "quote": lines(prompt)[0]["text"]}
    return {"traits": [*found, made_up, sensitive]}


def _claims(prompt: str) -> dict[str, Any]:
    claims = [claim for one in lines(prompt) for claim in plainly_read(one)]
    return {"claims": [*claims, *({**one, "value": "a cat", "quote": "my cat"} for one in claims)]}


def plain_chat() -> ScriptedChat:
    """Return a chat model that describes pages by rules, and reads plain sentences."""
    return ScriptedChat(answers={"continues": _page, "dimension": _traits, "claim": _claims})
