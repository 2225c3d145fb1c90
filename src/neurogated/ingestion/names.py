"""Names of subjects as keywords: where to look for the texts that mention one."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from neurogated.core.keywords import split_keywords

__all__ = ["keywords_of_name"]

_APART = re.compile("(?<=[\u3005\u3040-\u30ff\u3400-\u9fff]) (?=[\u3005\u3040-\u30ff\u3400-\u9fff])")
# What an apostrophe separates from the word after it ("O'Brien") or before it ("Ender's", "we'll").
_BEFORE = re.compile(r"(?<!\S)([^\W\d_]) (?=[^\W_])")
_AFTER = re.compile(r" (?=(?:[^\W\d_]|ll|re|ve)(?!\S))")


def keywords_of_name(name: str) -> list[AbstractSet[str]]:
    """Return the keywords of a name, given as folded words, in each way it may be written: with or without apostrophes.

    A text that mentions the name holds all keywords of one of these ways.
    """
    written = _APART.sub("", name)
    ways = dict.fromkeys((written, _AFTER.sub("'", written), _BEFORE.sub(r"\1'", written)))
    return [way for way in dict.fromkeys(frozenset(split_keywords(one)) for one in ways) if way]
