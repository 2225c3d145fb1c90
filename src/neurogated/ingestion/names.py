"""The keywords of a subject's name, for finding the texts that mention it."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from neurogated.text.keywords import split_keywords

_APART = re.compile("(?<=[\u3005\u3040-\u30ff\u3400-\u9fff]) (?=[\u3005\u3040-\u30ff\u3400-\u9fff])")
# Parts of words that an apostrophe separates: before the word ("O'Brien") or after it ("Ender's", "we'll").
_BEFORE = re.compile(r"(?<!\S)([^\W\d_]) (?=[^\W_])")
_AFTER = re.compile(r" (?=(?:[^\W\d_]|ll|re|ve)(?!\S))")


def keywords_of_name(name: str) -> list[AbstractSet[str]]:
    """Return the keywords of a name for each of its spellings: with and without apostrophes.

    The name is given as folded words. A text that mentions the name has all keywords of one of the spellings.
    """
    written = _APART.sub("", name)
    ways = dict.fromkeys((written, _AFTER.sub("'", written), _BEFORE.sub(r"\1'", written)))
    return [way for way in dict.fromkeys(frozenset(split_keywords(one)) for one in ways) if way]
