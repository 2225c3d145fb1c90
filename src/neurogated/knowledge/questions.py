"""The question to ask about a conflict, in the language of the memories."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from neurogated.core.claims import ClaimJudge
from neurogated.core.conflicts import MODEL, Conflict
from neurogated.core.judgements import RelationKind
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import FACT
from neurogated.knowledge.judge.claim_nodes import claim_of
from neurogated.knowledge.origin import statements_in
from neurogated.text.language import language_of
from neurogated.text.strings import one_line

_LONGEST, _ENOUGH = 200, 500
_QUESTIONS = {
    "contradiction": {
        "en": "You said “{0}” and also “{1}”. Which of them is right?",
        "de": "Du hast „{0}“ gesagt und auch „{1}“. Was davon stimmt?",
        "es": "Dijiste «{0}» y también «{1}». ¿Cuál de las dos es correcta?",
        "fr": "Tu as dit « {0} » et aussi « {1} ». Laquelle des deux est juste ?",
        "zh": "你说过“{0}”，也说过“{1}”。哪一个是对的？",
    },
    "supersession": {
        "en": "Before, you said “{0}”. Now you say “{1}”. Has this changed?",
        "de": "Früher hast du „{0}“ gesagt, jetzt „{1}“. Hat sich das geändert?",
        "es": "Antes dijiste «{0}» y ahora «{1}». ¿Ha cambiado?",
        "fr": "Avant, tu as dit « {0} », et maintenant « {1} ». Est-ce que cela a changé ?",
        "zh": "你以前说“{0}”，现在说“{1}”。情况变了吗？",
    },
    "noted contradiction": {
        "en": "I have noted “{0}” and also “{1}”. Which of them is right?",
        "de": "Notiert habe ich „{0}“ und auch „{1}“. Was davon stimmt?",
        "es": "Tengo anotado «{0}» y también «{1}». ¿Cuál de las dos es correcta?",
        "fr": "J'ai noté « {0} » et aussi « {1} ». Laquelle des deux est juste ?",
        "zh": "我记下了“{0}”，也记下了“{1}”。哪一个是对的？",
    },
    "noted supersession": {
        "en": "Before, I noted “{0}”, and now “{1}”. Has this changed?",
        "de": "Früher habe ich „{0}“ notiert, jetzt „{1}“. Hat sich das geändert?",
        "es": "Antes anoté «{0}» y ahora «{1}». ¿Ha cambiado?",
        "fr": "Avant, j'ai noté « {0} », et maintenant « {1} ». Est-ce que cela a changé ?",
        "zh": "我以前记下“{0}”，现在记下“{1}”。情况变了吗？",
    },
    "superseded": {
        "en": "I now take “{1}” as true, and “{0}” as true no longer. Is that right?",
        "de": "Ich gehe jetzt von „{1}“ aus, und „{0}“ gilt nicht mehr. Ist das richtig?",
        "es": "Ahora doy por cierto «{1}», y «{0}» ya no lo es. ¿Es correcto?",
        "fr": "Je retiens maintenant « {1} », et « {0} » n'est plus vrai. Est-ce exact ?",
        "zh": "我现在以“{1}”为准，“{0}”不再成立。对吗？",
    },
    "wrong": {
        "en": "I take “{1}” as true, and “{0}” as wrong. Is that right?",
        "de": "Ich gehe von „{1}“ aus, und „{0}“ ist falsch. Ist das richtig?",
        "es": "Doy por cierto «{1}», y «{0}» es incorrecto. ¿Es correcto?",
        "fr": "Je retiens « {1} », et « {0} » est faux. Est-ce exact ?",
        "zh": "我以“{1}”为准，“{0}”是错的。对吗？",
    },
}
"""By the state of the conflict and by language; the first text is the earlier or the refuted one."""


_HAN = re.compile("[\u3400-\u9fff]")
_LATIN = re.compile(r"[^\W\d_\u3400-\u9fff]+")
_NAME = re.compile(r"(?<![.!?¿¡\n] )(?<!^)\b[^\W\d_a-z]\w*")


def asked(
    conflict: Conflict, first: MemoryNode, second: MemoryNode, judge: ClaimJudge, said: Sequence[str] = ()
) -> Conflict:
    """Return a conflict with its reason and its question, from the present texts of its sides.

    Args:
        conflict: as it is stored.
        first: its first side.
        second: its second side.
        judge: gives the reason of a conflict of two claims.
        said: the messages of the user that make the claims, whose language the question has.
    """
    sides = first, second
    is_of_claims = None not in {one.found.statement for one in sides}
    reason = conflict.reason
    if conflict.rule != MODEL and is_of_claims:
        reason = judge.compare(*map(claim_of, sides)).reason
    texts = [_short(_said(node, place)) for node, place in zip(sides, conflict.sentences, strict=True)]
    # An agent states facts, and a user says messages.
    is_noted = {one.kind for one in sides} == {FACT}
    state = f"noted {conflict.kind.value}" if is_noted else conflict.kind.value
    if conflict.loser is not None:
        state = conflict.outcome
        texts = texts[::-1] if conflict.loser == second.id else texts
    form = _QUESTIONS.get(state, _QUESTIONS[RelationKind.CONTRADICTION.value])
    question = form[_language(said or [one.content for one in sides])].format(*texts)
    return replace(conflict, reason=reason, question=question)


def _language(texts: Sequence[str]) -> str:
    """Return the language of texts by their words without names, since a name may be foreign."""
    text = "\n".join(one[:_ENOUGH] for one in texts)
    if len(_HAN.findall(text)) > len(_LATIN.findall(text)):
        return "zh"
    return language_of(_NAME.sub("", text))


def _said(node: MemoryNode, place: int) -> str:
    found = statements_in(node)
    return found[place] if place < len(found) else node.content


def _short(text: str) -> str:
    flat = one_line(text).rstrip(".。!！")
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"
