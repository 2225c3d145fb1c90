"""Facts in words."""

from __future__ import annotations

from collections.abc import Iterable

from neurogated.core.claims import USER
from neurogated.core.facts import Fact
from neurogated.core.found import Statement
from neurogated.core.quoting import day_of
from neurogated.text.keywords import split_keywords
from neurogated.text.times import Zone, find_times

_MORE_WORDS = 4
"""Words that carry meaning. With fewer of them, such as those of a greeting, a memory adds nothing to its facts."""


def fact_text(fact: Fact | Statement) -> str:
    """Return a fact as one line, such as `home: Antwerp` or `Nora employer: Physio Plus`."""
    return f"{about(fact)}: {value_of(fact)}"


def about(fact: Fact | Statement) -> str:
    """Return the subject and the attribute in words, without the user as subject."""
    attribute = fact.attribute.replace("_", " ")
    return attribute if fact.subject == USER else f"{fact.subject} {attribute}"


def value_of(fact: Fact | Statement) -> str:
    """Return the value, with `not` before one that the subject does not have."""
    return f"not {fact.value}" if fact.is_denied else fact.value


def ended(facts: Iterable[Fact], zone: Zone = None) -> tuple[str, ...]:
    """Return the ends of facts that conflicts have ended, in words, with days of a zone; a wrong one never was true."""
    changed, wrong = list[str](), list[str]()
    for fact in facts:
        said, end = f"{about(fact)} {value_of(fact)}", fact.valid_to
        if end is None or end == fact.valid_from:
            wrong.append(said)
        else:
            changed.append(f"{said}, {day_of(end, zone)}")
    named = (("since changed", changed), ("wrong", wrong))
    return tuple(f"{name}: {'; '.join(said)}" for name, said in named if said)


def says_more(text: str, facts: Iterable[Fact]) -> bool:
    """Return whether a memory says more than its facts do in words; a further number is more."""
    known = list(facts)
    if any(fact.valid_from for fact in known):
        # The facts have the day that such words as "last week" mean.
        for time in find_times(text):
            text = text.replace(time, " ")
    left = set(split_keywords(text)).difference(*(split_keywords(fact_text(fact)) for fact in known))
    return len(left) >= _MORE_WORDS or any(map(str.isdigit, left))
