"""The simple statements that a sentence makes: its main clauses, and the states that the events it tells begin or end.

"I moved to York last week." says "I live in York now." The table `state_changes.json` has the events.
"""

from __future__ import annotations

import functools
import re

from neurogated.core.packaged import packaged_json
from neurogated.core.text_caches import remembered
from neurogated.knowledge.clauses import clauses_in, language_in
from neurogated.knowledge.slots import slot_of
from neurogated.knowledge.statement import read_text

__all__ = ["begun_in", "states_in"]

_REMEMBERED = 4_096
_LONGEST = 400
_PARTS = {
    "WHO": r"(?P<who>(?:i|we))(?:['’]ve| have)?(?: (?:just|recently|finally|now|already))?",
    "NAME": r"(?P<what>(?-i:[A-ZÀ-Ý])[\w'’-]*(?:[ -](?:(?:de|la|of|am|upon) )?(?-i:[A-ZÀ-Ý])[\w'’-]*){0,3})",
    "THING": r"(?P<what>[\w-]+(?: [\w-]+)?)(?=$|[,.;]| (?:and|because|last|on|to|for|in|this|yesterday|today)\b)",
    "HAN": r"(?P<what>[\u4e00-\u9fffA-Za-z]{2,8}?)(?=了|工作|$|[，。！；,])",
    "WHEN": r"(?:[上这本昨今前去]个?[周月年天晚星期末日]+|刚刚?|最近|终于|已经)*",
}
_LEAD = (
    r"(?:(?:last|this) \w+|yesterday|today|recently|finally|gestern|heute|(?:letzte|diese)[nrs]? \w+"
    r"|ayer|hoy|(?:la|el|este|esta) \w+ pasad[oa]|hier|(?:la|le) \w+ derni(?:er|ère))?,?\s*"
)
"""A time before the event. Other words before it may make it a plan, a story, or the event of somebody else."""
_STORY = re.compile(
    r"\b(?:when|ago|before|then|later|once|als|vor|damals|danach|cuando|hace|luego|entonces|quand|lorsque|y a|puis)\b"
    r"|时候|以前|后来|当时|之前|\b(?:1[0-9]|20)\d\d\b|\d年",
    re.IGNORECASE,
)
"""A story of the past: an event in it may not have begun the present state."""
_REPORT = re.compile('["“”„«»「」:：]')
_REST = re.compile(r",\s(?=[a-zß-ÿ])")
"""Words that tell more of the same follow, as in "Leeds, near the station"; in "Leeds, England" a name follows."""


@functools.cache
def _changes(language: str) -> list[tuple[re.Pattern[str], str]]:
    parts = re.compile("|".join(_PARTS))
    rows = packaged_json(__package__, "state_changes.json").get(language, ())
    return [
        (re.compile(_LEAD + parts.sub(lambda part: _PARTS[part[0]], pattern), re.IGNORECASE), state)
        for pattern, state in rows
    ]


@remembered(_REMEMBERED)
def states_in(sentence: str) -> tuple[str, ...]:
    """Return the simple statements that a sentence makes, without the sentence itself."""
    clause = _first_clause(sentence)
    if clause is None or (main := _REST.split(clause, 1)[0]) == sentence or slot_of(read_text(main)) is None:
        return begun_in(sentence)
    return tuple(dict.fromkeys((*begun_in(sentence), main)))


@remembered(_REMEMBERED)
def begun_in(sentence: str) -> tuple[str, ...]:
    """Return the states of the speaker that the event of a sentence begins or ends, each as a sentence."""
    changes = _changes(language_in(sentence))
    # Most sentences tell no event, and to read one takes longer than to search it.
    found = next(((match, state) for pattern, state in changes if (match := pattern.match(sentence))), None)
    if found is None or _STORY.search(sentence) or _first_clause(sentence) is None:
        return ()
    match, state = found
    groups = {"who": "", **match.groupdict()}
    return (state.format(**groups, am="are" if groups["who"].lower() == "we" else "am"),)


def _first_clause(sentence: str) -> str | None:
    """Return the first clause of a sentence that says what is true; None for others.

    Later clauses may report the words of somebody else, as in "Tom wrote to me, I live in York now."
    """
    if len(sentence) > _LONGEST or _REPORT.search(sentence):
        return None
    whole = read_text(sentence)
    return None if whole.mode or whole.holder else next(iter(clauses_in(sentence)), None)
