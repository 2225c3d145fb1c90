"""Compares two facts by their slots, and two texts by a model; and words the question to ask about a conflict."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from neurogated.core.clock import checked_moment
from neurogated.core.conflicts import MODEL, Conflict
from neurogated.core.equal_text import equal_key
from neurogated.core.found import Found, Statement
from neurogated.core.judgements import Relation, RelationKind
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import DEFAULT_KIND, FACT
from neurogated.errors import InputError, LLMError
from neurogated.knowledge.judging import TextJudge
from neurogated.knowledge.origin import sentence_of
from neurogated.knowledge.pairs import TextPair, closest_sentences
from neurogated.slots.claims import INDEPENDENT, claim_of, compare, meets, slot_key
from neurogated.text.keywords import language_of
from neurogated.text.strings import checked_text, one_line, table_of

Content = str | Mapping[str, Any]
"""A text, or a mapping with `content` and times, or a fact with subject, attribute and value."""

_PARTS, _TIMES = ("subject", "attribute", "value"), ("valid_from", "valid_to", "timestamp")
_OTHER_NAMES = {"attribute": "predicate", "value": "object", "timestamp": "asserted_at"}
"""Other names of the parts and times of a fact."""
_SAME = Relation(RelationKind.DUPLICATE, 1.0, "Both are the same text.")


def compare_contents(reader: TextJudge | None, first: Content, second: Content, now: datetime) -> Relation:
    """Return how two texts or facts relate, of which the second is said after the first where no times tell.

    `reader` is the model that compares texts, if there is one; a text without a time is said `now`.

    Raises:
        InputError: a fact lacks a part, a time cannot be read, or there is no model for texts.
        LLMError: the model does not answer.
    """
    one, other = _node("first", first, now), _node("second", second, now + timedelta(microseconds=1))
    if one.found.statement is not None and other.found.statement is not None:
        claims = claim_of(one), claim_of(other)
        if slot_key(claims[0].slot) != slot_key(claims[1].slot):
            return INDEPENDENT
        # In the order of their times; those that exclude each other in neither order, as they are given.
        in_time = claims[::-1] if other.moment < one.moment else claims
        found = compare(*in_time) if meets(*claims) else INDEPENDENT
        return found if found.is_conflict else compare(*claims)
    if equal_key(one.content) == equal_key(other.content) and {one.kind, other.kind} == {DEFAULT_KIND}:
        return _SAME
    if reader is None:
        raise InputError(
            "only a language model (llm, llm_base_url) or a cross-encoder (metabolism.knowledge) compares texts, and "
            "this memory has none; set one, or give facts: mappings with subject, attribute and value"
        )
    (relation,) = reader.judge([TextPair(other, one, closest_sentences(one, other))])
    if relation is None:
        raise LLMError("the model left out the two texts; compare them again")
    return relation


def _node(name: str, content: Content, at: datetime) -> MemoryNode:
    given = {"content": content} if isinstance(content, str) else content
    if not isinstance(given, Mapping):
        raise InputError(f"the {name} statement is {given!r}, but must be a text or a mapping")
    named = {field: given.get(other) for field, other in _OTHER_NAMES.items()}
    values = named | {field: value for field, value in given.items() if value is not None}
    begin, end, said = (checked_moment(field, values.get(field)) for field in _TIMES)
    statement, text = None, values.get("content")
    if text is None:
        parts = [values.get(field) for field in _PARTS]
        if None in parts:
            missing = _PARTS[parts.index(None)]
            raise InputError(f"the fact {dict(given)!r} has no {missing}; give a text, or subject, attribute and value")
        subject, attribute, value = map(str, parts)
        statement = Statement(subject, attribute, value)
    return MemoryNode(
        name,
        statement.text if statement is not None else checked_text("a text to compare", str(text)),
        kind=DEFAULT_KIND if statement is None else FACT,
        created_at=at,
        valid_from=begin,
        valid_to=end,
        timestamp=said,
        found=Found(statement=statement),
    )


_LONGEST, _READ = 200, 500
"""Characters of a side in a question, and of a message whose language is found."""
_HAN = re.compile("[\u3400-\u9fff]")
_LATIN = re.compile(r"[^\W\d_\u3400-\u9fff]+")
_NAME = re.compile(r"(?<![.!?¿¡\n] )(?<!^)\b[^\W\d_a-z]\w*")


def asked(conflict: Conflict, first: MemoryNode, second: MemoryNode, said: Sequence[str] = ()) -> Conflict:
    """Return a stored conflict with reason and question from present texts, in the language of what was said."""
    sides, reason = (first, second), conflict.reason
    if conflict.rule != MODEL and None not in {one.found.statement for one in sides}:
        reason = compare(*map(claim_of, sides)).reason
    texts = [_short(sentence_of(*side)) for side in zip(sides, conflict.sentences, strict=True)]
    # An agent states facts, and a user says messages.
    is_noted = {one.kind for one in sides} == {FACT}
    state = f"noted {conflict.kind.value}" if is_noted else conflict.kind.value
    if conflict.loser is not None:
        loser, winner = sides if conflict.loser == first.id else sides[::-1]
        is_coming = loser.valid_to is not None and loser.valid_to > winner.said_at
        state = "coming" if is_coming and conflict.outcome == "superseded" else conflict.outcome
        texts = texts[::-1] if loser is second else texts
    # Without names, since a name may be foreign.
    words = "\n".join(one[:_READ] for one in said or [side.content for side in sides])
    is_han = len(_HAN.findall(words)) > len(_LATIN.findall(words))
    form = table_of(__package__, "questions")[state]["zh" if is_han else language_of(_NAME.sub("", words))]
    return replace(conflict, reason=reason, question=form.format(*texts))


def _short(text: str) -> str:
    flat = one_line(text).rstrip(".。!！")
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"
