"""Splits a text into words and keywords without a model, in scripts with and without spaces; finds its language."""

import functools
import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal

import Stemmer

from neurogated.text.strings import composed, matches, table_of

UNSPACED = r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
"""Characters of Thai, Lao, Burmese and Khmer, which put no spaces between words."""
# The vowels of many scripts are marks, which `\w` leaves out (Python 3.11, `re`).
MARKS = "".join(
    chr(code) for code in (*range(0x300, 0x1E00), *range(0xA600, 0xAC00)) if unicodedata.category(chr(code))[0] == "M"
)
_ALONE = rf"\u3040-\u30ff\u3400-\u9fff{UNSPACED}"
# A character of a script without spaces is a word with its marks; any other run of letters, marks and digits is a word.
_WORD = re.compile(rf"[{_ALONE}][{MARKS}]*|[^\W{_ALONE}]+(?:[{MARKS}]+[^\W{_ALONE}]*)*")


def words_of(text: str) -> frozenset[str]:
    """Return the words of a list of words, as they are written."""
    return frozenset(text.split())


def classes_of(lines: str) -> dict[str, str]:
    """Return the first word of its line for each word."""
    return {word: first for first, *others in map(str.split, lines.strip().splitlines()) for word in (first, *others)}


def split_words(text: str) -> list[str]:
    """Return the words of `text` in lower case; each character of a script without spaces is one word."""
    if text.isascii():
        return _WORD.findall(text.lower())
    # NFC composes accents with letters, so that both forms give one word.
    return [word.lower() for word in _WORD.findall(composed(text))]


def without_final_s(words: Sequence[str]) -> list[str]:
    """Return words without an "s" at their end, since people leave the apostrophe of "Ana's" out."""
    return [word.removesuffix("s") for word in words]


def count_words(texts: Sequence[str]) -> list[int]:
    """Return the number of words of each text, the token count for embedders without a tokenizer."""
    return list(map(number_of_words, texts))


def number_of_words(text: str) -> int:
    """Return the number of words of a text."""
    words = matches(_WORD, composed(text))
    return len(words) if isinstance(words, list) else sum(1 for _ in words)


_STOP_WORDS = table_of(__package__, "language")["stop_words"]
ENGLISH_STOP_WORDS = words_of(_STOP_WORDS["en"])
# Longer alternatives come first; otherwise 什么时候 would leave 时候.
CHINESE_STOP = re.compile("|".join(sorted(_STOP_WORDS["zh"].split(), key=len, reverse=True)))
# Han, kana, Hangul and the scripts of South-East Asia: no spaces separate words, or particles attach to words.
RUN_CHARACTERS = rf"\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff{UNSPACED}"
_LETTERS = rf"[^\W_{RUN_CHARACTERS}]+(?:[{MARKS}]+[^\W_{RUN_CHARACTERS}]*)*"
_TOKEN = re.compile(rf"[{RUN_CHARACTERS}]+|{_LETTERS}(?:'{_LETTERS})*")
_RUN_START = re.compile(f"[{RUN_CHARACTERS}]")
_HAN = re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]")
# Accents, and the points and the letter stretcher that Hebrew and Arabic may leave out.
_ACCENT = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u0652\u0670]"
)
# Letters that Unicode does not take apart, and digits of other scripts.
_FORMS = {
    **str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "\u0131": "i", "æ": "ae", "œ": "oe"}),
    **{
        code: str(unicodedata.decimal(chr(code)))
        for code in (*range(0x660, 0x1C60), *range(0xA620, 0xAC00))
        if unicodedata.category(chr(code)) == "Nd"
    },
}
_OTHER_FORM = re.compile(f"[{''.join(map(chr, _FORMS))}]")


class _Stemmers(threading.local):
    """One stemmer per thread, since a stemmer is not thread-safe."""

    def __init__(self) -> None:
        # No stemmer cache: it would keep words of deleted texts, and it saves only 0.1 µs a word.
        self.english = Stemmer.Stemmer("english", 0)


_STEMMERS = _Stemmers()


def split_keywords(text: str) -> list[str]:
    """Return the keywords of `text` in order, with repetitions.

    The function folds case, accents, vowel points and width, drops English stop words, and stems other words
    (Porter 2). Numbers stay. From runs of Han, kana, Hangul, Thai, Lao, Burmese or Khmer it cuts out Chinese stop
    words; each remaining run becomes its overlapping character bigrams, or stays if it is one character. Any string is
    valid, and no character is query syntax.
    """
    return _split(text, _keywords_of_run)


def search_terms(text: str) -> list[str]:
    """Return the terms by which a text is searched, in order, with repetitions: its keywords and *parts*.

    Parts are the other bigrams of runs, and each Han character, which is often a word. Stop words count here, because
    they tell 的时间 from 持续时间, and a search weighs each term by how rare it is. A part starts with a blank, so it
    is never a keyword.
    """
    return _split(text, _terms_of_run)


def _split(text: str, of_run: Callable[[str], Iterable[str]]) -> list[str]:
    """Return the stems of a text, and in place of each run without spaces the result of `of_run`."""
    is_ascii = text.isascii()
    folded = text.casefold() if is_ascii else fold(text)
    if is_ascii or not _RUN_START.search(folded):
        return _stem([word for word in _TOKEN.findall(folded) if word not in ENGLISH_STOP_WORDS])
    words, keywords = list[str](), list[str]()
    for token in _TOKEN.findall(folded):
        if not _RUN_START.match(token):
            if token not in ENGLISH_STOP_WORDS:
                words.append(token)
            continue
        keywords += _stem(words)
        words.clear()
        keywords += of_run(token)
    return keywords + _stem(words)


def _keywords_of_run(run: str) -> Iterator[str]:
    for part in CHINESE_STOP.split(run):
        yield from [part] if len(part) == 1 else map("".join, pairwise(part))


def _terms_of_run(run: str) -> Iterator[str]:
    keywords = list(_keywords_of_run(run))
    yield from keywords
    held = set(keywords)
    yield from (f" {one}" for one in map("".join, pairwise(run)) if one not in held)
    yield from (f" {one}" for one in _HAN.findall(run))


def fold(text: str) -> str:
    """Return `text` with case, accents, strokes of letters, vowel points, digits and character width folded."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    # NFKD separates accents from letters. NFC then recombines kana and Hangul.
    bare = _ACCENT.sub("", unicodedata.normalize("NFKD", folded))
    # NFKD turns styled letters into plain ones, including capitals, so case is folded again.
    plain = unicodedata.normalize("NFC", bare).casefold().replace("’", "'")
    return plain.translate(_FORMS) if _OTHER_FORM.search(plain) else plain


def _stem(words: list[str]) -> list[str]:
    stems: list[str] = _STEMMERS.english.stemWords(words)
    return stems


Language = Literal["en", "de", "fr", "es"]
"""A language in Latin letters that has rules here; any other text counts as English."""


FUNCTION_WORDS: Mapping[Language, frozenset[str]]
FUNCTION_WORDS, NEGATIONS = (
    {name: words_of(words) for name, words in table_of(__package__, "language")[kind].items()}
    for kind in ("function_words", "negations")
)
"""Words that deny the statement they stand in."""
_OWNERS: dict[str, tuple[Language, ...]] = {
    word: tuple(language for language, own in FUNCTION_WORDS.items() if word in own)
    for word in frozenset[str]().union(*FUNCTION_WORDS.values())
}
_LATIN_WORD = re.compile(r"[^\W\d_]+")
_OWN_LETTERS: Mapping[Language, re.Pattern[str]] = {
    "de": re.compile("[äöüß]"),
    "fr": re.compile("[àâçèêëîïôùûœ]"),
    "es": re.compile("[áíóúñ¿¡]"),
}
"""Letters that hardly occur in the other languages."""
_ENOUGH = 2_000
"""Number of characters that suffice to detect a language."""


@functools.lru_cache(128)
def language_of(text: str) -> Language:
    """Return the language with the most matching function words and letters; English in a tie."""
    begin = text[:_ENOUGH].lower()
    counts: dict[Language, int] = {"en": 0, "de": 0, "fr": 0, "es": 0}
    for languages in filter(None, map(_OWNERS.get, _LATIN_WORD.findall(begin))):
        for language in languages:
            counts[language] += 1
    if not begin.isascii():
        counts |= {
            language: counts[language] + len(letters.findall(begin))
            for language, letters in _OWN_LETTERS.items()
            if counts[language]
        }
    # `max` returns the first of equal counts.
    return max(counts, key=counts.__getitem__)
