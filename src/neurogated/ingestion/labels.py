"""Speaker labels in the text of a turn, as in "Ann: Hello."."""

from __future__ import annotations

import re

_LONGEST = 40
_NAME = r"[^\W\d_a-z][^\W\d_]*[.'\u2019-]?[^\W\d_]*\.?"
_LABEL = re.compile(rf"\s*({_NAME}(?: {_NAME}){{0,2}})[:\uff1a]\s*(?=\S)")


def labelled_speaker(text: str) -> str | None:
    """Return the name before a colon at the beginning of a text, None if there is none.

    The name has one to three capitalised words and up to 40 characters. The caller has to decide by the surrounding
    turns whether it is a speaker, since "Note: buy milk" has the same form.
    """
    label = _LABEL.match(text[: _LONGEST + 2])
    return label[1] if label is not None and label[1][0].isupper() else None
