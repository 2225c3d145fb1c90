"""Sentences that state something personal, and statements as the judge of pairs reads them."""

from __future__ import annotations

import re

from neurogated.core.facts import FACT
from neurogated.core.model import MemoryNode
from neurogated.knowledge.cues import NOW, PRONOUNS
from neurogated.knowledge.judge import Content
from neurogated.knowledge.slots import slot_of
from neurogated.knowledge.statement import read_text
from neurogated.text.words import words_of

__all__ = ["content_of", "is_personal", "may_be_personal", "without_now"]

_MARKUP = re.compile(r"[<>{}=|\\#]")
_NO_STATEMENT = ("?", "？", "!", "！", "…", ":")
_JOINT = re.compile(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")
"""A gap where a word was taken out of Chinese text, which has no gaps between words."""
_SPEAKER = frozenset({"@i", "@we"})
_OWN = re.compile(
    r"\b(?:i|we|my|our|i['’]\w+|we['’]\w+|ich|wir|mein\w*|unser\w*|yo|mi|mis|nuestr[oa]s?|je|nous|j['’]\w+|mon|ma|mes|notre|nos)\b"
    r"|^(?:vivo|trabajo|tengo|soy|estoy|me|estudio|nací|vivimos|tenemos|somos)\b|我",
    re.IGNORECASE,
)
_POINTERS = words_of("""
        it it's its this that these those there here that's there's what who how hey hi hello thanks thank wow yes yeah
        no oh sure sorry great good glad nice so and but well the a an some one everyone everything nothing
    """)
_FLEETING = re.compile(
    r"\b(?:agree|hear|sorry|glad|excited|happy|sad|scared|freaked|love|loved|mean|means|meant|think|feel|feels|felt|know|knew|guess"
    r"|hope|bet|wonder|understand|appreciate|remember|see|saw|going|trying|looking)\b",
    re.IGNORECASE,
)
"""Moods and turns of phrase that a conversation repeats without contradiction."""


def is_personal(text: str) -> bool:
    """Return whether a sentence states something about the speaker, or about a person or thing that it names first.

    Conversations are full of sentences such as "It's great to hear that", which say nothing that lasts.
    """
    if not may_be_personal(text):
        return False
    statement = read_text(text)
    if statement.mode or statement.holder or not statement.tokens:
        return False
    text = without_now(text)
    first = text.partition(" ")[0]
    if statement.language != "en" or PRONOUNS.get(first.lower()) in _SPEAKER:
        return _OWN.search(text) is not None
    return _is_name(first) and slot_of(statement) is not None


def may_be_personal(text: str) -> bool:
    """Return whether `is_personal` may hold, from a look at single words only."""
    if text[-1:] in _NO_STATEMENT or _MARKUP.search(text) or _FLEETING.search(text):
        return False
    text = without_now(text)
    return _OWN.search(text) is not None or _is_name(text.partition(" ")[0])


def without_now(text: str) -> str:
    """Return a sentence without words such as "now"."""
    return _JOINT.sub("", " ".join(NOW.sub(" ", text).split())) or text


def _is_name(word: str) -> bool:
    return word[:1].isupper() and word.lower() not in _POINTERS and word.lower() not in PRONOUNS


def content_of(node: MemoryNode, text: str) -> Content:
    """Return a statement of a memory, as the judge of pairs reads it."""
    times = {"valid_from": node.valid_from, "valid_to": node.valid_to}
    said = node.valid_from or node.timestamp
    if said is None and (node.kind == FACT or node.position is not None):
        said = node.created_at
    content = {name: time.isoformat() for name, time in {**times, "timestamp": said}.items() if time is not None}
    if node.found.statement is None:
        return {**content, "content": text}
    parts = node.found.statement
    return {**content, "subject": parts.subject, "attribute": parts.attribute, "value": parts.value}
