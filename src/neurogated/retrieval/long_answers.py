"""Recognises questions that long messages answer: for a summary, or for an answer of the assistant."""

from __future__ import annotations

import re

# The second person in a past tense, in English, German, French, Spanish and Chinese, folded.
_ANSWER = re.compile(
    r"\b(?:did|had) you\b|\byou(?:'ve| have| had)? (?:said|told|gave|given|wrote|written|showed|shown|made|\w{3,}ed)\b"
    r"|\b(?:hast|hattest) du\b|\bdu (?:hast|hattest)\b"
    r"|\b(?:as|avais)-tu\b|\btu (?:m'|nous )?(?:as|avais) \w+"
    r"|\b(?:avez|aviez)-vous\b|\bvous (?:m'|nous )?(?:avez|aviez) \w+"
    r"|\b(?:has|habias) (?:\w+[ai]do|dicho|hecho|escrito)\b|\b(?:me|nos) \w+(?:aste|iste)\b"
    "|[你您](?:之前|以前|刚才|剛才|上次|曾|说过|說過|提到|提过|提過|告诉过|告訴過|(?:建议|建議|推荐|推薦)(?:了|过|過))"
)
# English, German, French, Spanish and Chinese, folded.
_OVERVIEW = re.compile(
    r"\b(?:summar(?:y|ies|i[sz]\w+)|sum(?:ming)? up|overview|recap\w*|run ?down|outline|synopsis"
    r"|zusammenfass\w*|zusammengefasst|uberblick|ubersicht"
    r"|resum(?:e[rz]?|es|en|er|ir|a|as|an|iendo)|recapitul\w+|synthese|apercu|panorama|sintesis)\b"
    "|总结|總結|概述|概括|综述|綜述|概览|概覽|归纳|歸納"
)


def asks_for_answer(folded: str) -> bool:
    """Return whether a folded question asks for an earlier statement or action of the assistant."""
    return _ANSWER.search(folded) is not None


def asks_for_overview(folded: str) -> bool:
    """Return whether a folded question asks for a summary."""
    return _OVERVIEW.search(folded) is not None
