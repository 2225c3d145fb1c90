"""Text that every store and file can keep."""

from __future__ import annotations

from neurogated.errors import InputError

__all__ = ["checked_text"]


def checked_text(what: str, text: str) -> str:
    """Return `text`, or refuse one that cannot be encoded; `what` names it in the error.

    Raises:
        InputError: it is no text or has a lone surrogate.
    """
    if not isinstance(text, str):
        raise InputError(f"{what} is {text!r}, but must be text")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{what} has a lone surrogate at character {error.start}; decode the source with errors='replace'"
        ) from None
    return text
