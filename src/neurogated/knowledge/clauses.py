"""The clauses of messages: who does something, whether it happened, and in which words."""

from __future__ import annotations

import functools
import re
from itertools import chain

from neurogated.core.packaged import packaged_json
from neurogated.knowledge import cues
from neurogated.knowledge.tokens import AUXILIARIES, HAN, STOP, WORD, key_of
from neurogated.knowledge.word_relations import word_relations
from neurogated.text.keywords import fold, split_keywords
from neurogated.text.language import FUNCTION_WORDS, NEGATIONS, language_of
from neurogated.text.words import words_of

__all__ = [
    "clauses_in",
    "has_happened",
    "is_own",
    "is_simple",
    "keys_in",
    "language_in",
    "ordered_keys",
    "relatives_in",
]

_CASE = re.IGNORECASE
_CLAUSE = re.compile(
    r"[;:!?](?:\s+|$)|[。！？；，]\s*|\s[-–—]+\s"
    r"|,?\s(?:so|but|because|since|which|considering|due to|thanks to|by(?=\s\w+ing\b)|using|after|as|that|when|while"
    r"|before|though|although|aber|weil|denn|dass|wenn|obwohl|während|bevor|nachdem|deshalb|pero|porque|aunque"
    r"|cuando|mientras|así que|mais|car|parce que|quand|lorsque|alors)\s"
    r"|,\s+(?=(?:and|but|so|or|because|since|which|who|when|while|especially|although|though|can|could|should|would|do|how|what"
    r"|i|i['’]\w+|we|he|she|they|it|und|aber|denn|weil|wie|ich|wir|kannst|y|pero|porque|cómo|puedes|et|mais|car|je|nous|peux)\b)",
    _CASE,
)
_JOINT = re.compile(r"[,;:&—–，；：、]|(?<!\w)(?:and|und|y|e|et)(?!\w)|和|而且|并且", _CASE)
"""Signs and words that may join two statements, or two things."""
_SUBJECT = re.compile(r"(?<![\w'’])(?:i|we|ich|wir|je|nous|yo|nosotr[oa]s)(?![\w-])|(?<!\w)j['’](?=\w)", _CASE)
_OTHER_SUBJECT = re.compile(
    r"(?<![\w'’])(?:he|she|it|they|you|er|es|ihr|él|ella|ellos|ellas|il|elle|ils|elles|tu)(?![\w-])", _CASE
)
_SPANISH_VERB = re.compile(
    r"(?<!\w)(?:he|hemos|había|habíamos|soy|estoy|estuve|estuvimos|tengo|tuve|voy|fui|fuimos|hice|hicimos|llevo|llevamos"
    r"|\w{2,}[éí]|\w{2,}[aei]mos)(?!\w)",
    _CASE,
)
"""Forms of verbs that speak of the speaker; Spanish sentences rarely name her."""
_HAN_SUBJECT = re.compile("我(?!的|们的)")
_HAN_OTHER = re.compile("[你他她]")
_ENDINGS = re.compile(r"'s?$|^[a-zñ]{1,2}'(?=\w)")
"""Endings and beginnings with an apostrophe, as in "sister's" and "j'ai"."""
_WORD = re.compile(r"(?<![\w$€£])(?:[^\W\d_]-)?[^\W\d_]+(?:['’][^\W\d_]+)*(?!\w)")
_EMPTY = words_of("""
        any anyone anybody anything anywhere else like ever total number amount jemals irgendein irgendeine irgendwas
        gesamt anzahl alguna algun alguno numero cantidad aucun aucune nombre
    """)
"""Words that name no thing."""
_LIGHT_VERBS = {
    "en": words_of("get have make do take go be come try use"),
    "de": words_of("mach geh"),
    "es": words_of("hac ir"),
    "fr": words_of("fair all"),
}
"""The stems of verbs that mean little without a noun."""
_HAN_SPEECH = re.compile("[了着过過的]")


@functools.cache
def _words() -> dict[str, re.Pattern[str]]:
    """Return the words of relatives and of plans, as patterns."""
    data = packaged_json(__package__, "small_words.json")
    return {
        name: re.compile(rf"(?<!\w)(?:{'|'.join(data[name]['latin'])})(?!\w)|{'|'.join(data[name]['han'])}", _CASE)
        for name in ("relatives", "plans")
    }


def clauses_in(sentence: str) -> list[str]:
    """Return the clauses of a sentence."""
    return [clause for clause in _CLAUSE.split(sentence) if clause and clause.strip()]


def is_simple(sentence: str) -> bool:
    """Return whether a sentence says one thing only. "As" joins a verb and a trade: "I work as a nurse"."""
    text = sentence.rstrip(" .!?。！？…")
    parts = (match[0].strip().lower() for match in _CLAUSE.finditer(text))
    return not _JOINT.search(text) and all(part in {"as", "als"} for part in parts)


def language_in(text: str) -> str:
    """Return the language of a clause."""
    return "zh" if HAN.search(text) else language_of(text)


@functools.cache
def _light(language: str) -> frozenset[str]:
    """Return the words that do not tell what a clause is about."""
    common = chain(
        *AUXILIARIES.values(), STOP, cues.QUANTIFIERS, cues.PRONOUNS, *FUNCTION_WORDS.values(), *NEGATIONS.values()
    )
    return frozenset(fold(word) for word in common) | cues.PREPOSITIONS.get(language, frozenset()) | _EMPTY


def keys_in(text: str, language: str) -> frozenset[str]:
    """Return the stems of the words that tell what a text is about; characters and pairs of them of a Chinese text."""
    return frozenset(ordered_keys(text, language)).union(HAN.findall(text) if language == "zh" else ())


def ordered_keys(text: str, language: str, *, without_past: bool = False) -> list[str]:
    """Return the result of `keys_in` in order; `without_past` leaves out English verbs in their past forms."""
    if language == "zh":
        return [key for key in split_keywords(_HAN_SPEECH.sub(" ", text)) if not any(map(str.isdigit, key))]
    light, relations = _light(language), word_relations()
    words = (_ENDINGS.sub("", word) for word in _WORD.findall(fold(text)) if word not in light)
    kept = (word for word in words if word not in light)
    if language == "en":
        kept = (word for word in kept if not (relations.is_adverb(word) or (without_past and relations.is_past(word))))
    verbs = _LIGHT_VERBS.get(language, frozenset())
    return [key for key in (key_of(word, language) for word in kept if word) if key not in verbs]


def is_own(clause: str, sentence: str) -> bool:
    """Return whether the speaker is the subject of a clause, or of one before it that it continues."""
    if HAN.search(clause):
        found = _HAN_SUBJECT.search(clause)
        if found is None:
            return not _HAN_OTHER.search(clause) and not relatives_in(clause)
        return not _words()["relatives"].match(clause, found.end())
    if _SUBJECT.search(clause) or (_SPANISH_VERB.search(clause) and language_of(sentence) == "es"):
        return True
    before = sentence[: max(0, sentence.find(clause))]
    return not _OTHER_SUBJECT.search(clause) and _SUBJECT.search(before) is not None and not relatives_in(clause)


def has_happened(clause: str) -> bool:
    """Return whether a clause says that something is or was, and not that it is planned, supposed, wished or denied."""
    language = language_in(clause)
    if _words()["plans"].search(clause) or any(cues.MODES[mode].search(clause) for mode in ("supposed", "wished")):
        return False
    if language == "zh":
        return not re.search("没|未|不", clause)
    words = {match[0].lower().replace("’", "'") for match in WORD.finditer(clause)}
    return not (words & NEGATIONS[language] or any(word.endswith("n't") for word in words))  # type: ignore[index]


def relatives_in(clause: str) -> frozenset[str]:
    """Return the relatives and friends that a clause names."""
    return frozenset(match[0].lower() for match in _words()["relatives"].finditer(clause))
