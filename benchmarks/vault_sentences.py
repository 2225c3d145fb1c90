"""Words the facts of vault-bench as sentences; each wording is chosen by the pair's id."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

__all__ = ["sentence"]

_BE = frozenset(
    (
        "employed",
        "located",
        "enrolled",
        "governed",
        "near",
        "handled",
        "certified",
        "reachable",
        "active",
        "available",
        "sold",
        "signed",
        "founded",
        "opened",
        "commissioned",
        "launched",
        "issued",
        "dispatched",
        "owned",
        "registered",
    )
)
_WORDED = {
    "headquarters in": ("{s} has its headquarters in {o}", "The headquarters of {s} are in {o}"),
    "holds account": ("{s} holds a {o} account", "{s} has a {o} account"),
    "includes feature": ("{s} includes the feature {o}", "{s} comes with {o}"),
    "uses language": ("{s} is written in {o}", "{s} uses {o}"),
    "has skill": ("{s} is skilled in {o}", "{s} knows {o}"),
    "is on team": ("{s} is on the {o} team", "{s} belongs to the {o} team"),
    "serves region": ("{s} serves {o}", "{s} serves customers in {o}"),
    "had procedure": ("{s} had a procedure: {o}", "{s} underwent {o}"),
    "has condition": ("{s} suffers from {o}", "{s} has {o}"),
    "has party": ("{o} is a party to {s}", "{s} has {o} as a party"),
    "has subsidiary": ("{s} has a subsidiary called {o}", "{s} owns the subsidiary {o}"),
    "member of club": ("{s} is a member of the {o} club", "{s} is in the {o} club"),
    "account opened on": ("{s} opened the account on {o}", "The account of {s} was opened on {o}"),
    "owned by team": ("{s} is owned by the {o} team", "The {o} team owns {s}"),
    "graduated in": ("{s} graduated in {o}", "{s} graduated in {o}"),
}


def sentence(fact: Mapping[str, str], key: str) -> str:
    """Return a sentence that says a fact and when it holds."""
    subject, predicate, value = fact["subject"], fact["predicate"], " ".join(fact["object"].split())
    choice = zlib.crc32(key.encode()) % 2
    begin, end = fact.get("valid_from"), fact.get("valid_to")
    if predicate in _WORDED:
        said = _WORDED[predicate][choice].format(s=subject, o=value)
    elif predicate.endswith(" is") and predicate != "is":
        noun = predicate.removesuffix(" is")
        said = f"The {noun} of {subject} is {value}" if choice else f"{subject}'s {noun} is {value}"
    elif predicate.split()[0] in _BE:
        said = f"{subject} {'was' if predicate.endswith(' on') else 'is'} {predicate} {value}"
    else:
        said = f"{subject} {predicate} {value}"
    if begin and end:
        return f"From {begin} to {end}, {said}." if choice else f"{said} from {begin} until {end}."
    return f"Since {begin}, {said}." if begin else f"{said}."
