"""When two texts are the same text, in other courtesies, marks, contractions and orders of words."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from neurogated.core.contexts import remembered
from neurogated.text.keywords import classes_of, words_of
from neurogated.text.normalise import Token, is_courtesy, plain_sentences, tokens_of
from neurogated.text.strings import table_of
from neurogated.text.times import MONTHS

_GAP = re.compile(r"(?<=\S)[^\S\n]+")
_LINE_END = re.compile(r"[^\S\n]+$", re.MULTILINE)
_KEPT = 4_096
"""Texts whose keys are kept."""
_DAY = 2
"""Digits of a day."""
_YEAR = re.compile(r"\d{4}")
_CODE = re.compile(r"[{}<>=\\|`;]|^[ \t]+\S|[ \t]{2,}", re.MULTILINE)
"""Marks and indentation of texts in which every character counts."""
_LONGEST_LINE = 2_000
"""Characters of a line that `plain_sentences` reads."""
_MAY_SAY = re.compile(r"[-+\d]")
_SIGNS = (
    (re.compile(r"(?<![\w)])-(?=\d)|(?<=\w)-(?!\w)"), " minus "),
    (re.compile(r"(?<=\w)\+(?!\w)"), " plus "),
    (re.compile(r"(?<=\d) ?[\"\u2033]"), " inch"),
    (re.compile(r"(?<=\d) ?['\u2032](?!\w)"), " foot"),
)
"""Marks that say something."""
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th|[.])\Z", re.IGNORECASE)
_MEASURE = re.compile(r"(\d[\d.,]*)([a-z]{1,2})\Z", re.IGNORECASE)
_HYPHEN, _THOUSANDS = re.compile(r"(?<=\w)-(?=\w)"), re.compile(r"(?<=\d),(?=\d{3})")
_HOUR = re.compile(r"(\d{1,2}):00\Z")
_TABLE = table_of(__package__, "equal_text")
_ASKS_YOU = re.compile(_TABLE["asks_you"], re.IGNORECASE)
_FREE, _FIXED = words_of(_TABLE["free"]), words_of(_TABLE["fixed"])
"""German places words freely around these subjects, except for words that depend on their place."""
_COPULAS, _OWNERS = words_of(_TABLE["copulas"]), words_of(_TABLE["owners"])
_LIVING: dict[str, str] = _TABLE["living"]
_POLITE = re.compile(r"\b(?:please|kindly|bitte|por favor|s'il (?:te|vous) pla[iî]t)\b,?", re.IGNORECASE)
_DAY_OF = re.compile(r"(?<=\d)\. (?=(?:jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez)[a-z]*\b)", re.IGNORECASE)
"""What stands between day and month in German; it ends no sentence."""
_SAME = classes_of(_TABLE["same"])
_COINS = frozenset({"euro", "dollar", "pound"})
_MONTHS = {*MONTHS["en"], *(name[:3] for name in MONTHS["en"]), "sept"}


def are_equal(texts: Sequence[str]) -> bool:
    """Return whether texts are equal: they have one key, and no word within their sentences differs in its capitals."""
    # Most texts begin with other words already.
    return len(set(map(_beginning, texts))) == 1 == len(set(map(equal_key, texts))) and all(
        names.get(word, name) == name
        for one, other in combinations(dict.fromkeys(texts), 2)
        for names in (_cases(one),)
        for word, name in _cases(other).items()
    )


@remembered(_KEPT)
def _cases(text: str) -> dict[str, str]:
    """Return the words within the sentences of a text as written, by small letters; none of a text in capitals."""
    if text.isupper():
        return {}
    words = [token.raw for one in plain_sentences(text) for token in tokens_of(one.text)[1:]]
    return {word.lower(): word for word in words if word.isalpha() and word[1:] in (word[1:].lower(), word[1:].upper())}


@remembered(_KEPT)
def equal_key(text: str) -> str:
    """Return a text that is equal for equal texts: those that differ only where this cannot change the meaning.

    These are courtesies and lead-ins, case, marks and hyphens, contractions, numbers in words, and the order around a
    copula with an owner ("my boss is Ana") or of a part that may stand in front ("on Mondays I swim"). In texts with
    marks of code or with indentation only blanks at the ends of lines and the width of gaps differ.
    """
    return "\n".join(_keys(text))


@remembered(_KEPT)
def _beginning(text: str) -> str:
    return next(_keys(text))


def _keys(text: str) -> Iterator[str]:
    text = _GAP.sub(" ", _LINE_END.sub("", unicodedata.normalize("NFC", text).strip()))
    if _CODE.search(text) or (len(text) > _LONGEST_LINE < max(map(len, text.splitlines()))):
        yield text
        return
    read, is_empty = text, True
    for sign, word in ((_DAY_OF, " "), *_SIGNS) if _MAY_SAY.search(text) else ():
        read = sign.sub(word, read)
    for one in plain_sentences(read):
        if is_courtesy(one.text):
            continue
        words = _POLITE.sub("", one.text).lstrip("¿¡ ")
        asked = _ASKS_YOU.match(words)
        key = "".join(_ordered(_dates(_words(tokens_of(words[asked.end() :] if asked else words)))))
        if key := key + "?" * (one.is_question and asked is None):
            yield key
            is_empty = False
    if is_empty:
        yield text


def _words(tokens: Sequence[Token]) -> list[str]:
    before, words = "", list[str]()
    for token, is_plain in zip(tokens, list(map(str.isalpha, [word for word, _ in tokens])), strict=True):
        # Most words are in one form already.
        word = _SAME.get(token.word, token.word) if token.word in _SAME else token.word if is_plain else _word(token)
        if word == "got" and before == "have":
            continue
        if not is_plain and (measure := _MEASURE.match(word)):
            words += measure[1], _SAME.get(measure[2].lower(), measure[2].lower())
        elif word:
            words += (word,)
        before = word or before
    return words


def _word(token: Token) -> str:
    """Return a word in one form; names with digits keep their case, and marks are no words."""
    if token.word == "'s":
        return "is"
    if token.word in _SAME or token.word.isalpha():
        return _SAME.get(token.word, token.word)
    if (hour := _HOUR.match(token.word)) or (hour := _ORDINAL.match(token.word)):
        return hour[1]
    is_name = any(map(str.isdigit, token.raw))
    word = _HYPHEN.sub("", token.raw if is_name else token.word)
    word = _THOUSANDS.sub("", word) if any(map(str.isalnum, word)) else ""
    return _SAME.get(word, word)


def _dates(words: list[str]) -> list[str]:
    """Return the words with dates as day and month: "june 14" and "14 of june" as "14 june"."""
    for place, word in enumerate(words):
        if word not in _MONTHS:
            continue
        if place + 1 < len(words) and words[place + 1].isdecimal() and len(words[place + 1]) <= _DAY:
            words[place : place + 2] = [words[place + 1], word]
        elif place > 1 and words[place - 1] == "of" and words[place - 2].isdecimal():
            before = words[: place - 2]
            before = before[:-1] if before[-1:] == ["the"] else before
            return _dates([*before, words[place - 2], *words[place:]])
    return words


def _ordered(words: list[str]) -> Sequence[str]:
    """Return the words in the order that all sentences with the same meaning share, and amounts before currencies."""
    for place in range(len(words) - 1 if not _COINS.isdisjoint(words) else 0):
        if words[place] in _COINS and words[place + 1][:1].isdigit():
            words[place : place + 2] = [words[place + 1], words[place]]
    for place in range(1, len(words)):
        if words[place] in _LIVING and words[place - 1] in {"am", "are", "is"}:
            words[place - 1 : place + 1] = [_LIVING[words[place]]]
            break
    copulas = [place for place, word in enumerate(words) if word in _COPULAS and 0 < place < len(words) - 1]
    if len(copulas) == 1:
        sides = words[: copulas[0]], words[copulas[0] + 1 :]
        if not _OWNERS.isdisjoint((sides[0][0], sides[1][0])):
            first, second = sorted(sides)
            return [*first, words[copulas[0]], *second]
    if not _FREE.isdisjoint(words) and _FIXED.isdisjoint(words):
        return sorted(words)
    return min([words[place:] + words[:place] for place in range(len(words))], default=words)


def depends_on_day(times: Iterable[str]) -> bool:
    """Return whether a text with these time expressions says something else on another day, as with "yesterday"."""
    return not all(map(_YEAR.search, times))
