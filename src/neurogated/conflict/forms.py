"""Forms, order and links of words that keep two statements apart which otherwise have the same words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from neurogated.conflict import cues
from neurogated.conflict.alignment import Alignment, Pair, is_inflected
from neurogated.conflict.clauses import relatives_in
from neurogated.conflict.statement import Statement, differ_in_day, differ_in_owner
from neurogated.conflict.word_relations import word_relations
from neurogated.core.words import split_words, words_of

__all__ = ["FORMS", "both_true", "stops"]

_JOINTS = {
    **dict.fromkeys(("and", "und", "y", "e", "et", "和", "与"), "and"),
    **dict.fromkeys(("or", "oder", "o", "u", "ou", "或"), "or"),
}
_JOINT = re.compile(r"\b(?:and|or|und|oder|[yeou]|et|ou)\b|[和与或]", re.IGNORECASE)
_CONTRACTED = {
    "im": "in",
    "ins": "in",
    "zum": "zu",
    "zur": "zu",
    "vom": "von",
    "beim": "bei",
    "am": "an",
    "ans": "an",
    "al": "a",
    "del": "de",
    "au": "à",
    "aux": "à",
    "du": "de",
    "des": "de",
    "at": "in",
}
"""Prepositions by the one that they contain or hardly differ from."""
_AT = frozenset({"on", "at", "in", "by", "of", "am", "um", "im", "an", "a", "en", "el", "à", "le", "du"})
"""Prepositions of a time that say the same, or that its form demands."""
_TELLING = frozenset({"for", "with", "from", "against", "about", "without"})
"""Prepositions without which a verb means something else, as in "run for the company"."""
_ARTICLES = words_of("der die das den dem des ein eine einen einem einer eines")
_PERSONS = words_of("ich du wir er sie ihn ihm ihr ihnen il elle ils elles lui él ella ellos ellas")
_PLURAL_ARTICLES = words_of("des les los las unos unas")
_SUBJECTS = words_of("i we he she they you it ich wir er du je il elle yo él ella")
_COPULA = re.compile(r"\b(?:is|are|was|were|ist|sind|war|waren|es|son|era|eran|est|sont|était)\b|是", re.IGNORECASE)
_BE = re.compile(r"\b(?:am|is|are|was|were|be|been|being|gets?|got) (?:\w+ly )?(\w+)", re.IGNORECASE)
_BEEN = re.compile(r"\bbeen\b(?! (?:\w+ly )?\w+(?:ing|ed|en)\b)", re.IGNORECASE)
"""The perfect of "be" alone, and not of another verb."""
_TIMES = words_of("day week month year morning evening afternoon night weekend time")
_STOP = re.compile(r"(?<!\bSt)(?<!\b[DM]r)(?<!\bM[rs]s)(?<!\bMs)(?<!\bNo)(?<!\s\w)(?<=[\w'’])\.\s+(?=[A-ZÄÖÜÉÁ])")
"""A full stop between two sentences, and not after an abbreviation."""
_HELPERS = {
    "de": {
        **dict.fromkeys(("hat", "habe", "haben", "hast", "habt"), "haben"),
        **dict.fromkeys(("wird", "werde", "werden", "wirst"), "werden"),
        **dict.fromkeys(("wurde", "wurden", "wurdest"), "wurde"),
        **dict.fromkeys(("sich",), "sich"),
    },
    "fr": {
        **dict.fromkeys(("a", "ai", "as", "ont", "avons", "avez"), "avoir"),
        **dict.fromkeys(("se", "s"), "se"),
        **dict.fromkeys(("me", "m"), "me"),
    },
    "es": {
        **dict.fromkeys(("está", "están", "estoy", "estamos"), "estar"),
        **dict.fromkeys(("he", "ha", "han", "hemos", "has"), "haber"),
        **dict.fromkeys(("me",), "me"),
    },
}
_EQUAL = {
    "everybody": "everyone",
    "somebody": "someone",
    "no-one": "nobody",
    "each": "every",
    "most": "many",
    "much": "many",
}
"""Quantifiers by another one that says the same."""
_DENIED_WITHIN = re.compile(r"\bnot to\b|\bque no\b|\bd(?:e |['’]en )ne\b|, nicht\b", re.IGNORECASE)
"""The denial of what somebody decides or says, and not of the decision."""
_PLURAL = "sn"
_ARTICLE = re.compile(r"(\w+)\s+$")
_HAN_ASPECTS = re.compile("(?<!经)过(?![敏程去年])|了(?!\\W*$|解)")
_PAST_HELPERS = words_of("was were did had became")
_ROLES = "They give the same persons or things other roles."
_TURNS = re.compile(
    r"\b(?:stop|remember|forg[eo]t|regret|quit|tr[yi])\w*(?= to\b)|\b(?:am|is|are|was|were) used to\b", re.IGNORECASE
)
"""Verbs that mean something else before "to" than before a form in "-ing", and "is used to" beside "used to"."""


def both_true(one: Statement, other: Statement, found: Alignment) -> str | None:
    """Return why two statements that seem to contradict each other can both be true; None if they cannot."""
    if any(cues.ADDED.search(each.text) for each in (one, other)):
        return "One of them tells of a further thing."
    if differ_in_day(one, other):
        return "They name days by their distance, and were said on different days."
    words = [(pair.first.word, pair.second.word) for pair in found.pairs if pair.how == "same"]
    if any(relatives_in(first) and first.rstrip(_PLURAL) != second.rstrip(_PLURAL) for first, second in words):
        return "They are about different persons." if one.language != "en" else None
    return None


def _forms(one: Statement, other: Statement, found: Alignment) -> str | None:  # noqa: PLR0911 - rules in order
    """Compare the forms of words. They tell gender, number and tense in languages without a lexicon here."""
    if one.is_passive != other.is_passive:
        return None
    if _helpers(one) != _helpers(other):
        return "They speak of different times, or of another state."
    if one.language == "zh":
        aspects = (sorted(_HAN_ASPECTS.findall(each.frame)) for each in (one, other))
        return "They differ in aspect." if next(aspects) != next(aspects) else None
    if one.language == "en":
        return None
    articles = (set(split_words(each.frame.lower())) & _PLURAL_ARTICLES for each in (one, other))
    if next(articles) != next(articles):
        return "They differ in number."
    differing = (pair for pair in found.pairs if _is_other_form(pair, one.language))
    pair = next(differing, None)
    if pair is not None:
        return f"“{pair.first.word}” and “{pair.second.word}” are different forms."
    if one.language == "de" and any(_article(pair, one, other) for pair in found.pairs):
        return _ROLES
    return None


def _helpers(statement: Statement) -> frozenset[str]:
    """Return the helping verbs that tell the time or the kind of a state, each in one form."""
    helpers = _HELPERS.get(statement.language, {})
    return frozenset(helpers[word] for word in split_words(statement.frame.lower()) if word in helpers)


def _is_other_form(pair: Pair, language: str) -> bool:
    if not pair.first.is_plain or pair.first.word.casefold() == pair.second.word.casefold():
        return False
    return pair.how == "same" or (pair.how == "synonym" and is_inflected(pair.first, pair.second, language))


def _article(pair: Pair, one: Statement, other: Statement) -> bool:
    """Return whether two German nouns have different articles, which tell who does something to whom."""
    before = [_ARTICLE.search(each.frame, 0, token.begin) for each, token in ((one, pair.first), (other, pair.second))]
    words = {match[1].lower() for match in before if match is not None}
    return len(words) > 1 and words <= _ARTICLES


def _quantifiers(one: Statement, other: Statement, _: Alignment) -> str | None:
    """Compare the words for all, some and none, and the places of negations."""
    ours, theirs = (
        {_EQUAL.get(word, word) for word in split_words(each.frame.lower()) if word in cues.QUANTIFIERS}
        for each in (one, other)
    )
    if ours != theirs:
        return "They speak of other numbers of things."
    is_within = [bool(_DENIED_WITHIN.search(each.text)) for each in (one, other)]
    return "They deny different things." if is_within[0] != is_within[1] else None


def _joints(one: Statement, other: Statement, _: Alignment) -> str | None:
    """Compare the words and stops that join things."""
    ours, theirs = (sorted(_JOINTS[match[0].lower()] for match in _JOINT.finditer(each.frame)) for each in (one, other))
    differ = ours != theirs or stops([one]) != stops([other])
    return "They join their parts in different ways." if differ else None


def stops(sentences: Sequence[Statement]) -> int:
    """Return the number of full stops within a text."""
    return len(_STOP.findall(" ".join(one.text for one in sentences)))


def _links(one: Statement, other: Statement, found: Alignment) -> str | None:
    """Compare the prepositions of words."""
    if _changes_voice(one, other, found) or differ_in_owner(one, other):
        return None
    if _exchange_roles(found.pairs) and not _is_mutual(one):
        return _ROLES
    in_order = _is_in_order(found.pairs)
    for pair in found.pairs:
        given = {pair.first.role, pair.second.role} - {""}
        if len(given) > 1 and not pair.first.is_plain and not pair.first.is_person_word and not given <= _AT:
            return f"“{pair.first.role}” and “{pair.second.role}” differ."
        roles = {_CONTRACTED.get(role, role) for role in (pair.first.role, pair.second.role)}
        if len(roles) > 1 and pair.first.is_plain and ("" not in roles or (in_order and roles & _TELLING)):
            return f"“{pair.first.role}” and “{pair.second.role}” differ."
    return None


def _exchange_roles(pairs: Sequence[Pair]) -> bool:
    """Return whether one of two words has the preposition here that the other has there."""
    roles = {(pair.first.role, pair.second.role) for pair in pairs if pair.first.is_plain}
    return any(first != second and (second, first) in roles for first, second in roles)


def _order(one: Statement, other: Statement, found: Alignment) -> str | None:
    """Compare the order of the words without preposition; it tells who does something to whom."""
    if _changes_voice(one, other, found):
        return _ROLES if _keeps_subject(one, other) else None
    if differ_in_owner(one, other) and _is_in_order(found.pairs, bare=False):
        return _ROLES
    is_list = any(_JOINT.search(each.frame) for each in (one, other))
    if one.language == "de" or differ_in_owner(one, other) or is_list or _is_mutual(one):
        return None
    pairs = [pair for pair in found.pairs if pair.first.is_plain and not _is_free(pair, one.language)]
    return None if _is_in_order(pairs) or _is_turned(one, other, found) else _ROLES


def _is_free(pair: Pair, language: str) -> bool:
    """Return whether the place of a word says nothing: an adverb, a time, or a verb that may precede its subject."""
    if language == "en":
        return word_relations().is_adverb(pair.first.word) or pair.first.key in _TIMES
    return language in {"es", "fr"} and (pair.first.is_verb or pair.second.is_verb)


def _subject(statement: Statement) -> str:
    """Return the first word that names a person or a thing."""
    tokens = (token for token in statement.tokens if not token.is_person_word or token.word in _SUBJECTS)
    return next((token.key for token in tokens), "")


def _keeps_subject(one: Statement, other: Statement) -> bool:
    """Return whether a statement in the passive voice has the subject of the one in the active voice."""
    if one.language != "zh":
        return _subject(one) == _subject(other)
    passive, active = (one, other) if one.is_passive else (other, one)
    subject = passive.frame.partition("被")[0].strip()
    return bool(subject) and active.frame.strip().startswith(subject)


def _changes_voice(one: Statement, other: Statement, found: Alignment) -> bool:
    """Return whether one statement is in the passive voice."""
    if one.is_passive != other.is_passive:
        return True
    if one.language != "en":
        return False
    ours, theirs = ({match[1].lower() for match in _BE.finditer(each.frame)} for each in (one, other))
    verbs = [pair for pair in found.pairs if pair.how == "same" and _is_participle(pair)]
    return any((pair.first.word in ours) != (pair.second.word in theirs) for pair in verbs)


def _is_participle(pair: Pair) -> bool:
    word, relations = pair.first.word, word_relations()
    return relations.is_verb(word) and (word.endswith(("ed", "en")) or relations.is_past(word))


def _is_mutual(statement: Statement) -> bool:
    """Return whether the verb says the same of both sides, as "met" does."""
    found = (token for token in statement.tokens if cues.RECIPROCAL.search(token.word))
    ends = ((token, statement.frame[token.begin + len(token.word) :]) for token in found)
    return any(
        token.is_verb or not (word_relations().is_noun(token.word) or end.startswith(("'s", "’s")))
        for token, end in ends
    )


def _is_turned(one: Statement, other: Statement, found: Alignment) -> bool:
    """Return whether both sides of "is" change places: "my doctor is Kim" and "Kim is my doctor"."""
    first, second = _COPULA.search(one.frame), _COPULA.search(other.frame)
    if first is None or second is None:
        return False
    return all(
        (pair.first.begin < first.start()) != (pair.second.begin < second.start())
        for pair in found.pairs
        if pair.first.is_plain
    )


def _is_in_order(pairs: Sequence[Pair], *, bare: bool = True) -> bool:
    """Return whether the words, or those without preposition, have one order in both statements."""
    nouns = [pair for pair in pairs if not pair.first.is_person_word]
    kept = [pair for pair in pairs if not (pair.first.role or pair.second.role)] if bare else nouns
    places = [second for _, second in sorted((pair.first.begin, pair.second.begin) for pair in kept)]
    return places == sorted(places)


def _persons(one: Statement, other: Statement, _: Alignment) -> str | None:
    """Compare the persons whom pronouns name, in languages where their forms tell roles."""
    if one.language == "en":
        return None
    ours, theirs = (set(split_words(each.frame.lower())) & _PERSONS for each in (one, other))
    return "They are about different persons." if ours != theirs else None


def _verbs(one: Statement, other: Statement, _: Alignment) -> str | None:
    """Compare English verbs whose meaning depends on a helper."""
    if one.language != "en":
        return None
    ours, theirs = (set(split_words(each.frame.lower())) for each in (one, other))
    perfect = bool(_BEEN.search(one.frame)) != bool(_BEEN.search(other.frame))
    if perfect or (("got" in ours) != ("got" in theirs) and not (ours | theirs) & _PAST_HELPERS):
        return "They speak of different times."
    return "They differ in a verb." if bool(_TURNS.search(one.text)) != bool(_TURNS.search(other.text)) else None


FORMS = (_forms, _quantifiers, _joints, _links, _order, _persons, _verbs)
"""The comparisons in order; each returns why two statements do not say the same, or None."""
