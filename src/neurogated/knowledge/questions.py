"""The question to ask about a conflict, in the language of the memories."""

from __future__ import annotations

from dataclasses import replace

from neurogated.core.conflicts import MODEL, Conflict
from neurogated.core.judgements import RelationKind, StatementJudge
from neurogated.core.model import MemoryNode
from neurogated.knowledge.claims import REASONS, nearest_clause
from neurogated.knowledge.origin import statements_in
from neurogated.knowledge.passages import content_of
from neurogated.knowledge.statement import read_text
from neurogated.text.strings import one_line

__all__ = ["asked"]

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


def asked(conflict: Conflict, first: MemoryNode, second: MemoryNode, judge: StatementJudge) -> Conflict:
    """Return a conflict with its reason and its question, from the present texts of its sides."""
    texts = [_said(node, place) for node, place in zip((first, second), conflict.sentences, strict=True)]
    reason = conflict.reason if conflict.rule == MODEL else REASONS.get(conflict.rule, "")
    if not reason:
        reason = judge.compare(*(content_of(*pair) for pair in zip((first, second), texts, strict=True))).reason
    texts = [_short(text, other) for text, other in zip(texts, texts[::-1], strict=True)]
    # An agent states facts, and a user says messages.
    is_noted = None not in {first.found.statement, second.found.statement}
    state = f"noted {conflict.kind.value}" if is_noted else conflict.kind.value
    if conflict.loser is not None:
        state = conflict.outcome
        texts = texts[::-1] if conflict.loser == second.id else texts
    language = read_text(f"{first.content[:_ENOUGH]} {second.content[:_ENOUGH]}").language
    form = _QUESTIONS.get(state, _QUESTIONS[RelationKind.CONTRADICTION.value])
    question = form.get(language, form["en"]).format(*texts)
    return replace(conflict, reason=reason, question=question)


def _said(node: MemoryNode, place: int) -> str:
    found = statements_in(node)
    return found[place] if place < len(found) else node.content


def _short(text: str, other: str) -> str:
    """Return a text, or the clause of a long one that is most like the other text."""
    flat = one_line(text if len(text) <= _LONGEST else nearest_clause(text, other)).rstrip(".。")
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"
