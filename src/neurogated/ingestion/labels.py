"""Speakers that are named in the text of a turn, as in "Ann: Hello."."""

from __future__ import annotations

import re

__all__ = ["labelled_speaker"]

_LONGEST = 40
_NAME = r"[^\W\d_a-z][^\W\d_]*[.'\u2019-]?[^\W\d_]*\.?"
_LABEL = re.compile(rf"\s*({_NAME}(?: {_NAME}){{0,2}})[:\uff1a]\s*(?=\S)")


def labelled_speaker(text: str) -> str | None:
    """Return the name before a colon with which a text begins, None where it begins otherwise.

    It is made of one to three words with capitals and has up to 40 characters. Whether it names a speaker has to be
    told from the turns around: "Note: buy milk" has the same form.
    """
    label = _LABEL.match(text[: _LONGEST + 2])
    return label[1] if label is not None and label[1][0].isupper() else None
