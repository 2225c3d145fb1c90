"""Splitting of texts into sentences, in scripts with and without spaces."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile

from neurogated.text.strings import SECTION
from neurogated.text.times import MONTHS

# Marks that need no white space after them, also the danda and the full stops of Burmese, Amharic,
# Khmer, Tibetan, Urdu and Armenian.
_ALONE = "。！？…\u0964\u0965\u104b\u1362\u17d4\u0f0d\u061f\u06d4\u0589"
# The pattern begins with a character class, because searching for one is much faster than trying alternatives.
_END = re.compile(
    rf"""
    [.!?\n{_ALONE}]
    (?: (?<= [{_ALONE}] ) [{_ALONE}]* [”’」』）]*       # such a mark alone ends a sentence
      | (?<= [.!?] ) (?<! [.!?][.!?] ) [.!?]* ["'”’»)\]]* (?= \s )   # elsewhere white space must follow
      | (?<= \n ) (?= \s*\n )                        # the end of a paragraph
    )
    \s*
    """,
    re.VERBOSE,
)
_LAST_WORD = re.compile(r"([^\W\d_]+)\.\Z")
# Words with a full stop that often precede a capital letter or a number.
_ABBREVIATIONS = frozenset(
    [
        *("mr", "mrs", "ms", "dr", "prof", "st", "mt", "sr", "jr", "rev", "hon", "gov", "sen", "rep", "pres"),
        *("gen", "col", "capt", "lt", "sgt", "no", "nos", "vs", "fig", "vol", "pp", "ed", "eds", "cf", "approx"),
        *("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
    ]
)
_DATE = re.compile(r"\b(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\.\Z")
_DAY = re.compile(r"\b\d\d?\.\Z")
_MONTHS = tuple(name.capitalize() for names in MONTHS["de"] for name in names.split("|"))
_QUESTION_MARKS = frozenset("?？")
_CLOSING = frozenset("\"'”’»)]」』）")
_CUT = re.compile(r"\s(?=\S)|(?=[\u3040-\u30ff\u3400-\u9fff])")
"""Where a sentence that is longer than that is cut."""
_LONGEST_ABBREVIATION = max(map(len, _ABBREVIATIONS))


def split_sentences(text: str) -> list[str]:
    """Return the sentences of `text` with the white space after them, not cut after initials, abbreviations or days."""
    return list(sentences_in(text))


@lru_cache(128)
def sentences_in(text: str) -> tuple[str, ...]:
    """Return what `split_sentences` does. It keeps the latest texts, since several readers split a new text."""
    sentences = []
    begin = 0
    for end in _END.finditer(text):
        if _ends_sentence(text, *end.span()):
            sentences.append(text[begin : end.end()])
            begin = end.end()
    if begin < len(text):
        sentences.append(text[begin:])
    return tuple(sentences)


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a text of any length, which is read in sections; a sentence longer than one is cut."""
    begin = 0
    while begin + SECTION < len(text):
        found = split_sentences(text[begin : begin + SECTION])
        if len(found) > 1:
            # The last one may go on.
            found.pop()
        else:
            cut = _CUT.search(text, begin + SECTION)
            found = [text[begin : cut.end() if cut else len(text)]]
        yield from found
        begin += sum(map(len, found))
    if begin < len(text):
        yield from split_sentences(text[begin:])


def is_question(sentence: str) -> bool:
    """Return whether a sentence, not a quotation or note at its end, ends with a question mark, as “Where?!” does."""
    end = takewhile(lambda char: not (char.isalnum() or char in _CLOSING), reversed(sentence))
    return not _QUESTION_MARKS.isdisjoint(end)


def _ends_sentence(text: str, mark: int, following: int) -> bool:
    """Return whether the mark at `mark` ends a sentence; the next text begins at `following`."""
    if text[mark] not in ".!?":
        return True
    if text[following : following + 1].islower():
        return False
    if text[mark] != ".":
        return True
    # Only the nearest word matters, so this searches a slice and not the whole text.
    before = text[max(0, mark - _LONGEST_ABBREVIATION - 1) : mark + 1]
    if before[-2:-1].isdecimal():
        return not (_DATE.search(before) or (text.startswith(_MONTHS, following) and _DAY.search(before)))
    found = _LAST_WORD.search(before) if text[mark + 1].isspace() else None
    word = found[1] if found else "I"
    return (len(word) > 1 or word == "I" or not word.isupper()) and word.lower() not in _ABBREVIATIONS
