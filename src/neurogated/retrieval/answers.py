"""Recognises questions for earlier statements or actions of the assistant."""

from __future__ import annotations

import re

__all__ = ["asks_for_answer"]

# The second person in a past tense, in English, German, French, Spanish and Chinese, folded.
_ANSWER = re.compile(
    r"\b(?:did|had) you\b|\byou(?:'ve| have| had)? (?:said|told|gave|given|wrote|written|showed|shown|made|\w{3,}ed)\b"
    r"|\b(?:hast|hattest) du\b|\bdu (?:hast|hattest)\b"
    r"|\b(?:as|avais)-tu\b|\btu (?:m'|nous )?(?:as|avais) \w+"
    r"|\b(?:avez|aviez)-vous\b|\bvous (?:m'|nous )?(?:avez|aviez) \w+"
    r"|\b(?:has|habias) (?:\w+[ai]do|dicho|hecho|escrito)\b|\b(?:me|nos) \w+(?:aste|iste)\b"
    "|[你您](?:之前|以前|刚才|剛才|上次|曾|说过|說過|提到|提过|提過|告诉过|告訴過|(?:建议|建議|推荐|推薦)(?:了|过|過))"
)


def asks_for_answer(folded: str) -> bool:
    """Return whether a folded question asks for an earlier statement or action of the assistant."""
    return _ANSWER.search(folded) is not None
