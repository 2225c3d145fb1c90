"""The question to ask about a conflict, in the language of the memories."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from neurogated.core.conflicts import MODEL, Conflict
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import FACT
from neurogated.knowledge.origin import sentence_of
from neurogated.slots.claims import claim_of, said_at
from neurogated.slots.judge import compare
from neurogated.text.language import language_of
from neurogated.text.strings import one_line, table_of

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
        is_coming = loser.valid_to is not None and loser.valid_to > said_at(winner)
        state = "coming" if is_coming and conflict.outcome == "superseded" else conflict.outcome
        texts = texts[::-1] if loser is second else texts
    form = table_of(__package__, "questions")[state][_language(said or [one.content for one in sides])]
    return replace(conflict, reason=reason, question=form.format(*texts))


def _language(texts: Sequence[str]) -> str:
    """Return the language of texts by their words without names, since a name may be foreign."""
    text = "\n".join(one[:_READ] for one in texts)
    if len(_HAN.findall(text)) > len(_LATIN.findall(text)):
        return "zh"
    return language_of(_NAME.sub("", text))


def _short(text: str) -> str:
    flat = one_line(text).rstrip(".。!！")
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"
