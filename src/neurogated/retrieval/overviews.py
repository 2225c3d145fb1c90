"""Recognises questions for a summary."""

from __future__ import annotations

import re

__all__ = ["asks_for_overview"]

# English, German, French, Spanish and Chinese, folded.
_OVERVIEW = re.compile(
    r"\b(?:summar(?:y|ies|i[sz]\w+)|sum(?:ming)? up|overview|recap\w*|run ?down|outline|synopsis"
    r"|zusammenfass\w*|zusammengefasst|uberblick|ubersicht"
    r"|resum(?:e[rz]?|es|en|er|ir|a|as|an|iendo)|recapitul\w+|synthese|apercu|panorama|sintesis)\b"
    "|总结|總結|概述|概括|综述|綜述|概览|概覽|归纳|歸納"
)


def asks_for_overview(folded: str) -> bool:
    """Return whether a folded question asks for a summary."""
    return _OVERVIEW.search(folded) is not None
