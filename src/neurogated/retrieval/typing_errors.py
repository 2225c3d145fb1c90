"""Corrects typing errors of a question by the words of the memories that it may find."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from string import ascii_lowercase

from neurogated.text.keywords import ENGLISH_STOP_WORDS, fold, split_keywords

Existing = Callable[[Iterable[str]], Collection[str]]
Counter = Callable[[Sequence[str]], Sequence[int]]
_REACH = 2
"""Words on each side of a name that tell whether a memory has the name that is meant."""
# A part of an address, a number, or a word with signs inside is no word: only marks, dashes and "'s" stand beside one.
_WORD = re.compile(
    r"""(?<![^\s(\[{"'“\u2018„«¿¡*–—])[^\W\d_]{5,}(?=(?:['’]s)?[.,;:!?…)\]}"'”’»*，。！？；：、）]*(?:[\s–—]|$))"""
)


def corrected(query: str, existing: Existing, count_tokens: Counter, holding: Callable[[Collection[str]], bool]) -> str:
    """Return a question in which words with a typing error are words of the memories.

    A word is changed if no memory has it, the embedder cuts it into several tokens, and a word of a memory that is one
    letter or one exchange of neighbouring letters away has fewer tokens. So a rare word of the language stays. Names
    often differ by a letter. So a word with a capital is changed by more than an exchange only if a memory has the new
    word and one of the two words on each side.

    Args:
        query: any text.
        existing: returns those of some keywords that memories have; see `split_keywords`.
        count_tokens: returns the number of the embedder's tokens of each text.
        holding: returns whether a memory has all of some keywords.
    """
    places = {found[0]: found.span() for found in reversed(list(_WORD.finditer(query))) if _is_plain(fold(found[0]))}
    words = list(places)[::-1]
    # Each of these words is one keyword.
    keywords = dict(zip(words, split_keywords(" ".join(words)), strict=True))
    known = existing(keywords.values()) if keywords else ()
    unknown = [word for word in words if keywords[word] not in known]
    if not unknown:
        return query
    # A name in small letters has more tokens than it has with a capital, if the embedder has both.
    sizes = dict(zip(unknown, count_tokens([fold(word) for word in unknown]), strict=True))
    changes = {word: _nearest(fold(word), size, existing, count_tokens) for word, size in sizes.items() if size > 1}
    for word, other in changes.items():
        if other and word[0].isupper() and sorted(fold(word)) != sorted(other):
            (keyword,) = split_keywords(other)
            if not any(holding([keyword, near]) for near in _around(query, places[word])):
                changes[word] = None
    return _WORD.sub(lambda found: _in_case(changes.get(found[0]) or found[0], found[0]), query)


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha() and word not in ENGLISH_STOP_WORDS


def _around(query: str, place: tuple[int, int]) -> list[str]:
    """Return the keywords of the words on each side of a place."""
    before, after = query[: place[0]].split()[-_REACH:], query[place[1] :].split()[:_REACH]
    return split_keywords(" ".join([*before, *after]))


def _nearest(word: str, size: int, existing: Existing, count_tokens: Counter) -> str | None:
    """Return the word of the memories nearest to `word`, which has `size` tokens, if there is one."""
    near = [other for other in dict.fromkeys(_one_step_away(word)) if other not in ENGLISH_STOP_WORDS]
    keywords = dict(zip(near, split_keywords(" ".join(near)), strict=True))
    known = existing(set(keywords.values()))
    found = [other for other in near if keywords[other] in known]
    tokens, nearest = min(zip(count_tokens(found), found, strict=True), key=lambda each: each[0], default=(size, None))
    return nearest if tokens < size else None


def _one_step_away(word: str) -> Iterator[str]:
    """Yield the words at a Damerau-Levenshtein distance of one, the likely errors first; the first letter stays."""
    parts = [(word[:place], word[place:]) for place in range(1, len(word) + 1)]
    yield from (begin + end[1] + end[0] + end[2:] for begin, end in parts if len(end) > 1)
    yield from (begin + end[1:] for begin, end in parts if end)
    yield from (begin + letter + end for begin, end in parts for letter in ascii_lowercase)
    yield from (begin + letter + end[1:] for begin, end in parts if end for letter in ascii_lowercase)


def _in_case(word: str, model: str) -> str:
    """Return `word` in the capitals of `model`."""
    if word == model:
        return word
    if model.isupper():
        return word.upper()
    return word.capitalize() if model[0].isupper() else word
