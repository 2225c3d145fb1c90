"""Words that tell small talk from facts, in English, German, French, Spanish and Chinese."""

from __future__ import annotations

import re

from neurogated.text.keywords import split_keywords
from neurogated.text.tables import table_of
from neurogated.text.words import words_of

_TABLE = table_of(__package__, "importance_words")
FIRST_PERSON = words_of(_TABLE["first_person"])
SECOND_PERSON = words_of(_TABLE["second_person"])
RULE = re.compile(
    r"\b(?:always|never|prefer|from now on|immer|niemals|nie|bevorzuge|ab jetzt|toujours|jamais|préfère|désormais"
    r"|siempre|nunca|prefiero|(?:your|deine|tes|tus) (?:answers|replies|antworten|réponses|respuestas))\b(?! mind\b)"
    r"|总是|永远|从不|以后都|一直|我更喜欢",
    re.IGNORECASE,
)
"""A lasting instruction or preference."""
COMMON = frozenset(split_keywords(_TABLE["common"]))
"""Keywords of small talk and of advice; other keywords are specific."""
