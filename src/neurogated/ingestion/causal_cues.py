"""Explicit connectives of cause and effect in English and Chinese, and the words that cancel them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from neurogated.text.tables import table_of


class Opener(NamedTuple):
    """A cue at the beginning of a text that refers to the text before it, or at its end to the text after it."""

    pattern: re.Pattern[str]
    """Its group `cue` is quoted in reasons."""
    strength: float
    """0–1: the weight of the link without overlap."""


class Link(NamedTuple):
    """A cue between a cause and an effect in one sentence."""

    pattern: re.Pattern[str]
    """Its group `cue` is quoted in reasons. Its group `cause`, if present, is the cause."""
    cause_follows: bool
    """Whether the cause is after the cue and the effect before it."""
    is_clause: bool
    """Whether the cause is a clause. A common word in a clause is weaker evidence than one in a noun phrase."""


_TABLE = table_of(__package__, "causal_cues")


def _cue(lines: str, before: str = "") -> re.Pattern[str]:
    """Compile a cue that matches any of the lines. Texts must have single spaces and straight apostrophes."""
    return _compiled(f"{before}(?P<cue>{'|'.join(map(str.strip, lines.strip().splitlines()))})", re.IGNORECASE)


def _compiled(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Compile a pattern with its parts."""
    while (whole := re.sub(r"@([A-Z_]+)", lambda name: _TABLE["parts"][name[1]], pattern)) != pattern:
        pattern = whole
    return re.compile(pattern, flags)


def _opener(entry: Mapping[str, Any]) -> Opener:
    return Opener(_cue(entry["cue"], entry.get("before", "")), entry["strength"])


OPENERS = tuple(map(_opener, _TABLE["openers"]))
"""Cues in the first sentence of a text that refer to the previous text."""
AHEAD = _opener(_TABLE["ahead"])
"""Cues in the last sentence of a text that announce effects or reasons."""
LINKS = tuple(
    Link(
        _compiled(one["pattern"]) if "pattern" in one else _cue(one["cue"], one.get("before", "")),
        one["cause_follows"],
        one["is_clause"],
    )
    for one in _TABLE["links"]
)
"""Cues between cause and effect in a sentence."""

NEGATED = re.compile(
    r"(?:\b(?:not|never|hardly|scarcely|neither|nor|cannot|without|instead of|rather than|whether|as if)|n't)"
    r"(?! (?:only|just|merely|simply|least))(?: [\w'-]+){0,3} ?\Z"
    r"|\b(?:no|nobody|few) (?:[\w'-]+ ){1,2}\Z|\b(?:would|could|might|should) (?:\w+ )?have \Z"
    r"|\b(?:to|could|may|might) \Z"
    r"|(?:不是|并非|不|非|没有|没|未|未能|不会|避免|防止|以免|可能|会|是否)(?:直接|真正|因此|就此|再)?\Z",
    re.IGNORECASE,
)
"""Words directly before a cue that deny, fear or intend it."""

DENIED = _cue(
    r"""
    \b(?:coincidence|coincidental|unrelated|wrongly|mistakenly|falsely|ruled out|unlikely|nothing to do with)\b
    \bno (?:evidence|connection|link|proof|effect)\b|\b(?:den(?:ied|ies) that|doubt(?:ed|s|ful)? (?:that|whether|if))\b
    无关|巧合|没有关系|没有任何联系|谣言|误以为|没有证据|否认|排除了
    """
)
"""Words of sentences that deny a connection."""

HYPOTHETICAL = _cue(
    r"(?:if|whether|suppose|unless|had it not|is|was|were|are|did|does|do|could|can|would)\b"
    r"|如果|假如|要是|是不是|难道|是否"
)
"""Beginnings of hypothetical sentences and of questions."""

ASKS_WHY = re.compile(r"(?:\b(?:why|how come|what caused)\b|为什么|为何|怎么).*[?？]", re.IGNORECASE)
ANSWERS = re.compile(r"(?P<cue>because|owing to|due to|on account of|thanks to|因为|由于)", re.IGNORECASE)

LEADS = re.compile(
    r"""[\s"'“\u2018「『(*_\[—–-]*
    (?:(?:yes|no|well|true|right|exactly|indeed|oh|i\s+see)\b[\s,.!:;—–-]*["“]?
      |(?:对|是的|没错|不错)[，。！,]
      |[^.!?。！？,，;；:："“「]{1,40}(?:[:,]\s+["“]|[：，][“「])(?=\S)
    )?[\s…]*""",
    re.IGNORECASE | re.VERBOSE,
)
"""Quotation marks, interjections or a speaker before the first significant word."""
