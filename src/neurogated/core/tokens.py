"""Counts tokens: for the budgets of prompts on the safe side, and for the window of an embedder.

    prompt_tokens    for budgets: at least as many as OpenAI's o200k
    window_tokens    for chunks: those of the embedder, but a text that its tokenizer does not know is not short
    cut_to           the beginning of a text within a number of tokens of either kind

A text is cut into pieces as by o200k, and the bytes of a piece are merged by the first 90,000 of its 200,000 merges
(`tools/token_costs.py`). The others would only make fewer tokens, so the count is on the safe side. No text collapses:
neither one that a tokenizer reads as a single unknown word, nor a long word.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise

import regex

from neurogated.core.contexts import remembered
from neurogated.core.extras import packaged_json
from neurogated.text.strings import give_way, matches

TokenCounter = Callable[[Sequence[str]], list[int]]
"""Returns the number of tokens of each text."""

_PIECE = r"""[^\r\n{letter}{digit}]?[{upper}]*[{lower}]+(?i:'(?:s|t|re|ve|m|ll|d))?
    | [^\r\n{letter}{digit}]?[{upper}]+(?i:'(?:s|t|re|ve|m|ll|d))?
    | [{digit}]{{1,3}} | [ ]?[^\s{letter}{digit}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+"""
_CLASSES = {
    "letter": r"\p{L}",
    "digit": r"\p{N}",
    "upper": r"\p{L}\p{M}--\p{Ll}",
    "lower": r"\p{L}\p{M}--[\p{Lu}\p{Lt}]",
}
_UNICODE_PIECE = regex.compile(_PIECE.format_map(_CLASSES), regex.VERBOSE | regex.VERSION1)
_ASCII_CLASSES = {"letter": "A-Za-z", "digit": "0-9", "upper": "A-Z", "lower": "a-z"}
_ASCII_PIECE = re.compile(_PIECE.format_map(_ASCII_CLASSES), re.VERBOSE | re.ASCII)
"""Finds the same in ASCII, in half of the time."""
_LONGEST_GRAPHEME = 32
"""Code points. A letter with more accents is cut, or else one letter could fill a prompt."""
_GRAPHEME = regex.compile(r"\X")
_REMEMBERED = 2**16
_LONGEST = 64
"""Longer pieces, such as a paragraph of Thai, are merged in parts, since merging takes the square of the characters."""
_NEVER = 2**30
"""The rank of what is no token."""
_PROMPT_TOKENS_A_TOKEN = 3
"""So many prompt tokens are a token of an embedder at least; of prose, both have about as many."""


def prompt_tokens(texts: Sequence[str]) -> list[int]:
    """Return how many tokens each text has at most for a language model, about as OpenAI's o200k would count."""
    costs = []
    for text in texts:
        give_way()
        costs.append(sum(map(_cost, matches(_ASCII_PIECE if text.isascii() else _UNICODE_PIECE, text))))
    return costs


def window_tokens(count: TokenCounter) -> TokenCounter:
    """Return a counter of an embedder's tokens, and of no fewer than a third of a text's prompt tokens."""

    def counted(texts: Sequence[str]) -> list[int]:
        least = (-(-tokens // _PROMPT_TOKENS_A_TOKEN) for tokens in prompt_tokens(texts))
        return list(map(max, count(texts), least))

    return counted


def cut_to(text: str, most: int, count: TokenCounter) -> str:
    """Return the longest beginning of a text of at most `most` tokens; of several words, it has whole ones."""
    graphemes = graphemes_of(text)
    end = fitting(graphemes, 0, most, count)
    cut = "".join(graphemes[:end])
    if end == len(graphemes) or not (words := cut.rsplit(None, 1)) or cut[-1:].isspace() or graphemes[end].isspace():
        return cut.rstrip() if end < len(graphemes) else cut
    return words[0] if len(words) > 1 else cut


def graphemes_of(text: str) -> list[str]:
    """Return the characters of a text as people see them, such as a letter with its accents (UAX 29)."""
    found = list(matches(_GRAPHEME, text))
    # Other threads run between the steps of a loop, not within one call of `max`.
    if all(len(one) <= _LONGEST_GRAPHEME for one in found):
        return found
    return [one[at : at + _LONGEST_GRAPHEME] for one in found for at in range(0, len(one), _LONGEST_GRAPHEME)]


def fitting(graphemes: Sequence[str], begin: int, most: int, count: TokenCounter) -> int:
    """Return the largest end found at which `graphemes[begin:end]` has at most `most` tokens; `begin` if none."""
    fits, fails = begin, len(graphemes) + 1
    # Try as many graphemes as tokens first, then up to twice as many, so that no count reads the whole text.
    end = min(begin + max(most, 1), len(graphemes))
    while fits < end < fails:
        if count(["".join(graphemes[begin:end])])[0] <= most:
            fits, end = end, min(2 * end - begin, (end + fails) // 2, len(graphemes))
        else:
            fails, end = end, (fits + end) // 2
    return fits


@cache
def _ranks() -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Return the ranks of tokens, and the lowest rank by border of characters; a byte is written as a character."""
    found = packaged_json("neurogated.core", "token_costs.json.gz")
    return {token: rank for rank, token in enumerate(found["tokens"])}, found["borders"]


@remembered(_REMEMBERED)
def _cost(piece: str) -> int:
    """Return the tokens of a piece: its characters and bytes, merged from the lowest rank on."""
    ranks, _ = _ranks()
    if _bytes(piece) in ranks:
        return 1
    if len(piece) > _LONGEST:
        return sum(_cost(piece[begin : begin + _LONGEST]) for begin in range(0, len(piece), _LONGEST))
    parts = list(piece) if piece.isascii() else _first_parts(piece)
    pairs = [ranks.get(a + b, _NEVER) for a, b in pairwise(parts)]
    while pairs and (lowest := min(pairs)) < _NEVER:
        place = pairs.index(lowest)
        parts[place] += parts.pop(place + 1)
        del pairs[place]
        if place < len(pairs):
            pairs[place] = ranks.get(parts[place] + parts[place + 1], _NEVER)
        if place:
            pairs[place - 1] = ranks.get(parts[place - 1] + parts[place], _NEVER)
    return len(parts)


def _first_parts(piece: str) -> list[str]:
    """Return the characters of a piece. One that is no token, or may merge with a neighbour before, is its bytes."""
    ranks, _ = _ranks()
    borders = [_NEVER, *map(_border, piece, piece[1:]), _NEVER]
    parts: list[str] = []
    for one, before, after in zip(map(_bytes, piece), borders, borders[1:], strict=False):
        parts += [one] if ranks.get(one, _NEVER) < min(before, after) else one
    return parts


@remembered(_REMEMBERED)
def _border(left: str, right: str) -> int:
    """Return the lowest rank of a token that has a part of one of two characters together with the other."""
    (_, borders), a, b = _ranks(), _bytes(left), _bytes(right)
    return min(borders.get(a[i:] + b[: j + 1], _NEVER) for i in range(len(a)) for j in range(len(b)))


def _bytes(text: str) -> str:
    return text if text.isascii() else text.encode(errors="surrogatepass").decode("latin-1")
