"""Words the facts of vault-bench as sentences: three wordings for each attribute, and times in words."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path

__all__ = ["WORDINGS", "sentence"]

WORDINGS = 3
_TABLE = Path(__file__).parent / "data" / "vault_wordings.tsv"
_PAST = {
    "is": "was",
    "are": "were",
    "has": "had",
    "lives": "lived",
    "makes": "made",
    "works": "worked",
    "holds": "held",
    "attends": "attended",
    "runs": "ran",
    "costs": "cost",
    "sells": "sold",
    "stands": "stood",
    "falls": "fell",
    "can": "could",
    "connects": "connected",
    "keeps": "kept",
    "takes": "took",
    "uses": "used",
}
_VERB = re.compile(rf"\b({'|'.join(_PAST)})\b")


@cache
def _wordings() -> dict[str, list[str]]:
    found = {}
    for line in _TABLE.read_text(encoding="utf-8").splitlines()[1:]:
        predicates, *wordings = line.split("\t")
        found.update({name.removesuffix(" is"): wordings for name in predicates.split(",")})
    return found


def sentence(fact: Mapping[str, str], key: str, side: int) -> str:
    """Return a sentence that says a fact and when it holds.

    Args:
        fact: its subject, predicate, object, and times.
        key: the id of its pair, which chooses the wordings.
        side: the place of the fact in its pair. Another side has another wording.
    """
    wording = _wordings()[fact["predicate"].removesuffix(" is")][(zlib.crc32(key.encode()) + side) % WORDINGS]
    begin, end = fact.get("valid_from"), fact.get("valid_to")
    if end:
        wording = _VERB.sub(lambda match: _PAST[match[1]], wording, count=1)
    said = wording.format(s=fact["subject"], o=" ".join(fact["object"].split()))
    choice = zlib.crc32(key.encode()) // WORDINGS % WORDINGS
    if begin and end:
        span = ("between {} and {}", "from {} until {}", "between {} and {}")[choice].format(_day(begin), _day(end))
        return f"{_capital(span)}, {_low(said)}." if choice else f"{_capital(said)} {span}."
    if begin:
        start = ("as of {}", "starting {}", "since {}")[choice].format(_day(begin))
        return f"{_capital(start)}, {_low(said)}." if choice != 1 else f"{_capital(said)}, {start}."
    return f"{_capital(said)}."


def _capital(text: str) -> str:
    """Write an article at the start in upper case; names stay as they are."""
    return re.sub(r"^(the|one|there|as|between|from|since|starting)\b", lambda match: match[1].capitalize(), text)


def _low(text: str) -> str:
    return re.sub(r"^(The|There)\b", lambda match: match[1].lower(), text)


def _day(text: str) -> str:
    day = date.fromisoformat(text)
    return f"{day:%B} {day.day}, {day.year}"
