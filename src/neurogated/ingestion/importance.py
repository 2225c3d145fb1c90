"""How likely a text is evidence for some later question: its importance, 0–1, without a model.

A logistic regression over the surface of a text: how much it states with specific words, whether it tells of its
speaker or addresses somebody, times, the past, questions, exclamations and reactions. A chat with an assistant has
a second regression over the first: the role counts there, lasting instructions, and how much the user has told before.
`tools/fit_importance.py` fits the coefficients.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from neurogated.core.packaged import packaged_json
from neurogated.core.text_caches import remembered
from neurogated.ingestion.importance_words import COMMON, FIRST_PERSON, PAST, REACTIONS, RULE, SECOND_PERSON
from neurogated.text.keywords import split_keywords
from neurogated.text.sentences import split_sentences
from neurogated.text.times import find_times
from neurogated.text.words import split_words

__all__ = ["ImportanceJudge", "OfflineImportanceJudge", "Remark", "chat_features", "text_features"]

_COEFFICIENTS = "importance.json"
_ASSISTANT = "assistant"
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_ASKS = re.compile(r"[?？]\W*\Z")
_EXCLAIMS = re.compile(r"[!！]\W*\Z")
_NUMBER = re.compile(r"(?m)(?<![\w.])(?!^\s*\d+[.)])\d+")
_MOST_KEYWORDS = 64
_MOST_PLACES = 63
_TOLD_BEFORE = 512
_MESSAGES = 8
"""Texts whose features are kept, since the pieces of a long message are judged one after another."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A text to judge: a message, or a passage of a document."""

    text: str
    role: str | None = None
    """`user`, `assistant`, or another."""
    speaker: str | None = None
    """The person who speaks."""
    place: int | None = None
    """Number of earlier memories of its session; None outside of one."""
    earlier: int = 0
    """Number of earlier memories of its user."""

    @property
    def in_chat(self) -> bool:
        """Whether it belongs to a chat of a user with an assistant: it has a role, but no speaker."""
        return self.role is not None and self.speaker is None


class ImportanceJudge(Protocol):
    """Judges the importance of texts."""

    def judge(self, remarks: Sequence[Remark]) -> list[float]:
        """Return the importance of each text, 0–1."""


class OfflineImportanceJudge:
    """Judges the importance of texts by their surface."""

    def judge(self, remarks: Sequence[Remark]) -> list[float]:
        """Return the importance of each text, 0–1."""
        return [self._judge(remark) for remark in remarks]

    @staticmethod
    def _judge(remark: Remark) -> float:
        weights = _coefficients()
        features = text_features(remark)
        value = _probability(features, weights["text"])
        return _probability(chat_features(remark, features, value), weights["chat"]) if remark.in_chat else value


def text_features(remark: Remark) -> dict[str, float]:
    """Return the features of a text by name."""
    return {**_surface(remark.text), "place": _log(min(remark.place or 0, _MOST_PLACES))}


@remembered(_MESSAGES)
def _surface(text: str) -> dict[str, float]:
    """Return the features of a text that do not depend on its place. All pieces of a message share them."""
    prose = _CODE.sub(" ", text)
    sentences = [one for one in split_sentences(prose) if one.strip()] or [prose]
    said = [one for one in sentences if not _ASKS.search(one)]
    keywords = set(split_keywords(prose))
    stated = keywords if len(said) == len(sentences) else set(split_keywords("".join(said)))
    words = split_words(prose)
    own = sum(word in FIRST_PERSON for word in words)
    other = sum(word in SECOND_PERSON for word in words)
    return {
        "statements": _log(min(len(stated), _MOST_KEYWORDS)),
        "specific": _log(min(len(stated - COMMON), _MOST_KEYWORDS)),
        "specific_share": len(keywords - COMMON) / max(1, len(keywords)),
        "questions": 1 - len(said) / len(sentences),
        "exclamations": sum(map(bool, map(_EXCLAIMS.search, sentences))) / len(sentences),
        "person": (own - other) / (own + other + 1),
        "second_person": other / max(1, len(words)),
        "times": float(bool(find_times(prose))),
        "past": float(PAST.search(prose) is not None),
        "reaction": float(bool(words) and words[0] in REACTIONS),
    }


@remembered(_MESSAGES)
def _tells(text: str) -> tuple[bool, bool]:
    """Return whether a text states a rule, and whether it has a number."""
    return RULE.search(text) is not None, _NUMBER.search(_CODE.sub(" ", text)) is not None


def chat_features(remark: Remark, features: Mapping[str, float], text: float) -> dict[str, float]:
    """Return the features of a message of a chat; `features` and the importance `text` are those of its text."""
    is_own = remark.role != _ASSISTANT
    states_rule, has_number = _tells(remark.text)
    return {
        "text": text,
        "assistant": float(not is_own),
        "earlier": math.log2(1 + remark.earlier / _TOLD_BEFORE),
        "exclamations": features["exclamations"],
        "person": features["person"],
        "reaction": features["reaction"] * is_own,
        "rule": float(is_own and states_rule),
        "numbers": float(has_number),
    }


def _log(count: int) -> float:
    return math.log2(1 + count)


def _probability(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    logit = weights["intercept"] + sum(weights[name] * value for name, value in features.items())
    return 1 / (1 + math.exp(-logit))


@lru_cache(maxsize=1)
def _coefficients() -> dict[str, dict[str, float]]:
    return packaged_json(__package__, _COEFFICIENTS)
