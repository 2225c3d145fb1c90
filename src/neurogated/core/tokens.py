"""Counts tokens: for the budgets of prompts on the safe side, and for the window of an embedder.

    prompt_tokens    for budgets: at least as many as OpenAI's o200k, within 1/20
    window_tokens    for chunks: those of the embedder, but a text that its tokenizer does not know is not short
    cut_to           the beginning of a text within a number of tokens of either kind

The costs were measured by `tools/token_costs.py`. A text is cut almost as by o200k: at spaces, capitals, digits and
punctuation. A word costs the sum of its longest known parts, and every other character its own tokens, so that no text
collapses: neither one that a tokenizer reads as a single unknown word, nor a long word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import regex

from neurogated.core.packaged import packaged_json
from neurogated.core.text_caches import remembered

TokenCounter = Callable[[Sequence[str]], list[int]]
"""Returns the number of tokens of each text."""

_MARKS = r"!-/:-@\[-`{-~"
_LOWER = "a-zß-öø-ÿ"
_UPPER = "A-ZÀ-ÖØ-Þ"
_SUFFIX = "(?:'(?:s|t|re|ve|m|ll|d)\\b)?"
_PIECE = re.compile(
    f"""\\ ?(?:[{_UPPER}]*[{_LOWER}]+|[{_UPPER}]+){_SUFFIX}
      | [0-9]{{1,3}}
      | \\ +(?=\\ [{_UPPER}{_LOWER}{_MARKS}])
      | \\ {{2,}} | \\n+ | \\t+
      | \\ ?[{_MARKS}]+\\n*
      | .""",
    re.VERBOSE | re.DOTALL,
)
_GRAPHEME = regex.compile(r"\X")
_REMEMBERED = 2**16
_RARE = 4
"""The bytes, and the tokens, of a character above U+1FFFF."""
_SAME = 4
"""So many equal marks or line breaks are a token at least."""
_FORMS = 3
"""A word in small letters, with a capital, in capitals."""
_PARTS_A_TOKEN = 4
"""Of several parts, so many cost a token more. Without it, 1 random word of 30 has fewer tokens than for o200k."""
_PROMPT_TOKENS_A_TOKEN = 3
"""So many prompt tokens are a token of an embedder at least; of prose, both have about as many."""


class _Costs(NamedTuple):
    """Tokens by text."""

    words: Sequence[Mapping[str, int]]
    """By form: three after a space, and three without one."""
    parts: Sequence[Mapping[str, int]]
    """Later parts of words: in small letters, with a capital at the beginning of the word, in capitals."""
    longest: int
    """Characters of a part."""
    characters: str
    """The digit at the place of a character."""
    pairs: frozenset[str]
    """Two marks that are one token."""


def prompt_tokens(texts: Sequence[str]) -> list[int]:
    """Return how many tokens each text has at most for a language model, about as OpenAI's o200k would count."""
    return [sum(map(_cost, _PIECE.findall(text))) for text in texts]


def window_tokens(count: TokenCounter) -> TokenCounter:
    """Return a counter of an embedder's tokens by which a text has at least a third of its prompt tokens.

    An embedder counts an unknown word, such as a paragraph of Thai, as one token.
    """

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
    return list(_GRAPHEME.findall(text))


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
def _costs() -> _Costs:
    found = packaged_json("neurogated.core", "token_costs.json.gz")
    words: list[dict[str, int]] = [{} for _ in range(2 * _FORMS)]
    parts: list[dict[str, int]] = [{}, {}]
    for known, groups in ((words, found["words"]), (parts, found["parts"])):
        for digits, listed in groups.items():
            costs, some = list(map(int, digits)), listed.split()
            for by_text, cost in zip(known, costs, strict=True):
                by_text.update(dict.fromkeys(some, cost))
    longest = max(len(word) for word in words[0])
    return _Costs(words, [parts[0], *parts], longest, found["characters"], frozenset(found["pairs"]))


@remembered(_REMEMBERED)
def _cost(piece: str) -> int:
    """Return the tokens of a piece that `_PIECE` cuts."""
    bare = piece[1:] if piece[0] == " " else piece
    if bare[:1].isalpha() and bare[0] < "\u0100" and bare[0] not in "ªµº":
        word, suffix, _ = bare.partition("'")
        form = 0 if word.islower() else 1 if word[1:].islower() else 2
        is_mixed = not (word.isupper() or word[1:].islower() or word.islower())
        return _word(word.lower(), form + _FORMS * (bare == piece)) + len(suffix) + is_mixed
    if len(piece) == 1 or piece.isdigit():
        return 1 if piece.isascii() else _character(piece)
    if piece.isspace():
        return -(-len(piece) // _SAME) if piece[0] == "\n" else min(2, len(piece))
    return _run_of_marks(piece)


def _character(one: str) -> int:
    characters = _costs().characters
    return int(characters[ord(one)]) if ord(one) < len(characters) else _RARE


def _word(word: str, form: int) -> int:
    """Return the tokens of a word in small letters that is cut from the left into its longest known parts."""
    costs = _costs()
    known, tokens, begin, parts = costs.words[form], 0, 0, 0
    while begin < len(word):
        for end in range(min(len(word), begin + costs.longest), begin, -1):
            if cost := known.get(word[begin:end]):
                break
        else:
            end, cost = begin + 1, max(map(_character, (word[begin], word[begin].upper()[:1])))
        tokens, begin, parts, known = tokens + cost, end, parts + 1, costs.parts[form % _FORMS]
    return tokens + _cut_elsewhere(parts)


def _run_of_marks(run: str) -> int:
    """Return the tokens of ASCII punctuation, with a space before it or line breaks after it."""
    pairs, tokens, place, parts = _costs().pairs, 0, 0, 0
    while place < len(run):
        same = len(run) - place - len(run[place:].lstrip(run[place]))
        parts += 1
        if same >= _SAME:
            tokens, place = tokens - (-same // _SAME), place + same
        else:
            tokens, place = tokens + 1, place + 1 + (run[place : place + 2] in pairs)
    return min(len(run), tokens + _cut_elsewhere(parts))


def _cut_elsewhere(parts: int) -> int:
    """Return the tokens to add because o200k may cut a word or a run of marks at other places."""
    return -(-parts // _PARTS_A_TOKEN) if parts > 1 else 0
