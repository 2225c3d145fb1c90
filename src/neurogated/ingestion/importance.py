"""How likely a text is evidence for some later question: its importance, 0–1, without a model.

A logistic regression over what the statements of a text say: how specific their words are, whether they are about their
speaker, whether they tell a time or a rule. Sentences that say nothing do not count, nor do marks, case and lead-ins. A
chat with an assistant has a second regression over the first: who speaks counts there, and how much the user has told
before. `tools/fit_importance.py` fits the coefficients.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

from neurogated.core.contexts import remembered
from neurogated.core.extras import packaged_json
from neurogated.text.keywords import split_keywords
from neurogated.text.normalise import plain_sentences, tokens_of
from neurogated.text.strings import SECTION
from neurogated.text.tables import table_of
from neurogated.text.times import find_times
from neurogated.text.words import words_of

_TABLE = table_of(__package__, "importance_words")
_FIRST_PERSON = words_of(_TABLE["first_person"])
_SECOND_PERSON = words_of(_TABLE["second_person"])
_RULE = re.compile(
    r"\b(?:always|never|prefer|from now on|immer|niemals|nie|bevorzuge|ab jetzt|toujours|jamais|préfère|désormais"
    r"|siempre|nunca|prefiero|(?:your|deine|tes|tus) (?:answers|replies|antworten|réponses|respuestas))\b(?! mind\b)"
    r"|总是|永远|从不|以后都|一直|我更喜欢",
    re.IGNORECASE,
)
"""A lasting instruction or preference."""
_COMMON = frozenset(split_keywords(_TABLE["common"]))
"""Keywords of small talk and of advice; other keywords are specific."""

_COEFFICIENTS = "importance.json"
_USER = "user"
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_END = re.compile(r"(?<=[!?！？])\s+")
"""The end of a sentence, also before a small letter."""
_NUMBER = re.compile(r"(?<![\w.])\d+(?!\w*[.)]\s)")
_ASKED = re.compile(r"[^,，]*\Z")
"""The last clause of a sentence that ends with a question mark: "I have a test on Friday, can you help?"."""
_LEAST_WORDS = 3
"""Words of the clauses before it that state something."""
_MOST_KEYWORDS = 64
_SHORT = 6
"""Words of a text in which one "you" makes no address."""
_FEW = 2
_TOLD_BEFORE, _MOST_TOLD = 512, 1024
_LONG = 300
"""Characters of a message, such as a task, that counts less the more its user has told; a short fact does not."""
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
    earlier: int = 0
    """Number of earlier memories of its user; only counted in a chat."""

    @property
    def in_chat(self) -> bool:
        """Whether it belongs to a chat of a user with an assistant: it has a role, but no speaker."""
        return self.role is not None and self.speaker is None


class ImportanceJudge(Protocol):
    """Judges the importance of texts."""

    def judge(self, remarks: Sequence[Remark]) -> list[float]:
        """Return the importance of each text, 0–1."""


class OfflineImportanceJudge:
    """Judges the importance of texts by their words."""

    def judge(self, remarks: Sequence[Remark]) -> list[float]:
        """Return the importance of each text, 0–1."""
        return [self._judge(remark) for remark in remarks]

    @staticmethod
    def _judge(remark: Remark) -> float:
        weights = _coefficients()
        features = text_features(remark.text)
        value = _probability(features, weights["text"])
        return _probability(chat_features(remark, features, value), weights["chat"]) if remark.in_chat else value


class _Clause(NamedTuple):
    text: str
    is_asked: bool
    keywords: frozenset[str]

    @property
    def specific(self) -> frozenset[str]:
        return self.keywords - _COMMON


@remembered(_MESSAGES)
def text_features(text: str) -> dict[str, float]:
    """Return the features of a text by name; of a long one, those of its beginning."""
    clauses = list(_clauses(text[:SECTION]))
    # A greeting or "Guess what?" before a statement changes nothing.
    clauses = [one for one in clauses if one.specific] or [one for one in clauses if not one.is_asked] or clauses
    said = [one for one in clauses if not one.is_asked]
    stated = frozenset[str]().union(*(one.keywords for one in said))
    statements = " . ".join(one.text for one in said)
    every = " . ".join(one.text for one in clauses)
    words = [word for word, _ in tokens_of(every)]
    own = words if statements == every else [word for word, _ in tokens_of(statements)]
    return {
        "specific": math.log2(1 + min(len(stated - _COMMON), _MOST_KEYWORDS)),
        "specific_share": len(stated - _COMMON) / (len(stated) + _FEW),
        "questions": 1 - len(said) / max(1, len(clauses)),
        "own": float(not _FIRST_PERSON.isdisjoint(own)),
        "second_person": len([word for word in words if word in _SECOND_PERSON]) / max(_SHORT, len(words)),
        "times": float(bool(find_times(every))),
        "numbers": float(_NUMBER.search(every) is not None),
        "rule": float(_RULE.search(statements) is not None),
    }


def _clauses(text: str) -> Iterator[_Clause]:
    """Yield the sentences of a text in lower case; one that asks after a statement is two clauses."""
    for sentence in plain_sentences(_END.sub("\n", _CODE.sub(" ", text))):
        plain = sentence.text.lower()
        asked = _ASKED.search(plain) if sentence.is_question else None
        if asked is not None and len(tokens_of(plain[: asked.start()])) > _LEAST_WORDS:
            yield _clause(plain[: asked.start()], is_asked=False)
            plain = asked[0]
        yield _clause(plain, is_asked=sentence.is_question)


def _clause(text: str, *, is_asked: bool) -> _Clause:
    return _Clause(text, is_asked, frozenset(split_keywords(text)))


def chat_features(remark: Remark, features: Mapping[str, float], text: float) -> dict[str, float]:
    """Return the features of a message of a chat; `features` and the importance `text` are those of its text."""
    is_own = remark.role == _USER
    return {
        "text": text,
        "assistant": float(not is_own),
        "earlier": _told_before(remark.earlier) * min(1.0, len(remark.text) / _LONG),
        "own": features["own"] * is_own,
        "rule": features["rule"] * is_own,
    }


def _told_before(count: int) -> float:
    return math.log2(1 + min(count, _MOST_TOLD) / _TOLD_BEFORE)


def _probability(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    logit = weights["intercept"] + sum([weights[name] * value for name, value in features.items()])
    return 1 / (1 + math.exp(-logit))


@lru_cache(maxsize=1)
def _coefficients() -> dict[str, dict[str, float]]:
    return packaged_json(__package__, _COEFFICIENTS)
