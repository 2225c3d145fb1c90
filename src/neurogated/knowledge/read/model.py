"""What a language model reads in messages, several in one call."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple

from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.core.claims import USER, Change, Claim, Slot
from neurogated.core.conflicts import moment_of
from neurogated.core.delta import GraphDelta, PendingTask
from neurogated.core.found import READ_BY_MODEL
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort, LanguageModel
from neurogated.core.reasons import READ
from neurogated.core.view import GraphView
from neurogated.knowledge.backlog import Answers
from neurogated.knowledge.checker import CLAIMS, ConflictChecker
from neurogated.knowledge.origin import is_message, statements_in
from neurogated.knowledge.read.table import attribute_named, attributes
from neurogated.knowledge.read.values import date_of, number_of
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.text.keywords import fold, split_keywords
from neurogated.text.time_spans import Span
from neurogated.text.times import find_times

# Most characters of a memory that the model reads, and of a value.
_CHARACTERS, _VALUE = 4_000, 200

# Most claims of one memory.
_CLAIMS = 16

_TOGETHER = 8
"""Messages in one call, so that the answer about all of them stays below the usual limit of tokens."""
_DATE = re.compile(r"\d{4}(?:-\d\d){0,2}")
_CHANGES = {"begins": Change.BEGINS, "ends": Change.ENDS}
_SPEAKER = frozenset({USER, "i", "me", "we", "speaker", "我"})


class Reading(NamedTuple):
    """A memory whose claims are read."""

    node: MemoryNode

    @property
    def nodes(self) -> tuple[MemoryNode, ...]:
        """The memory."""
        return (self.node,)


class ClaimEnquiry:
    """Asks a language model what memories say. The prompt has texts, days and speakers, and no ids."""

    kind = CLAIMS

    def __init__(
        self,
        store: GraphStorePort,
        checker: ConflictChecker,
        model: LanguageModel,
        prompts: PromptTemplateManager,
        settings: MetabolismSettings,
    ) -> None:
        self.together, self.calls = _TOGETHER, settings.claim_calls
        self._store = store
        self._checker = checker
        self._model = model
        self._prompts = prompts

    def questions(self, _: GraphView, node: MemoryNode, __: Callable[[str], bool]) -> Sequence[Reading]:
        """Return the memory, if somebody says something in it."""
        return [Reading(node)] if is_message(node) and any(statements_in(node)) else []

    def ask(self, questions: Sequence[Reading]) -> Sequence[Sequence[Claim]]:
        """Return the claims of each memory. A claim whose quote or value is not in its text is dropped."""
        lines = (json.dumps(_shown(number, one.node), ensure_ascii=False) for number, one in enumerate(questions, 1))
        messages = self._prompts.render("claims", attributes=", ".join(attributes()), messages="\n".join(lines))
        answer = self._model.infer_json(messages, self._prompts.schema("claims"))
        by_message = defaultdict[int, list[dict[str, Any]]](list)
        for entry in answer["claims"]:
            by_message[entry["message"]].append(entry)
        return [
            list(filter(None, (_claim(entry, one.node) for entry in by_message[number][:_CLAIMS])))
            for number, one in enumerate(questions, 1)
        ]

    def delta(
        self, answers: Answers[Reading, Sequence[Claim]], settled: Sequence[PendingTask], at: datetime
    ) -> GraphDelta:
        """Return the claims with the conflicts that they raise; the write lock is held."""
        read = {one.node.id: claims for one, claims in answers if claims}
        nodes = self._store.get_nodes(list(read))
        return self._checker.checked(GraphDelta(settled=tuple(settled), reason=READ, at=at), nodes, read)


def _text(node: MemoryNode) -> str:
    return " ".join(statements_in(node))[:_CHARACTERS]


def _shown(number: int, node: MemoryNode) -> dict[str, Any]:
    speaker = {"speaker": node.speaker} if node.speaker else {}
    return {"message": number, "day": moment_of(node).date().isoformat(), **speaker, "text": _text(node)}


def _claim(entry: dict[str, Any], node: MemoryNode) -> Claim | None:
    """Return the claim of an entry of the answer; None if it does not say what the text says."""
    text, quote, value = _text(node), " ".join(entry["quote"].split()), " ".join(entry["value"].split())
    subject = _subject(entry["subject"], node, text)
    if not subject or not entry["attribute"].strip() or not quote or fold(quote) not in fold(text):
        return None
    if not value or len(value) > _VALUE or not _is_said(value, text, moment_of(node)):
        return None
    state = entry["state"]
    since, until = (_days(entry[name], text) for name in ("since", "until"))
    return Claim(
        Slot(subject, attribute_named(" ".join(entry["attribute"].split())).key),
        value,
        is_denied=state == "denied",
        change=_CHANGES.get(state),
        is_past=state == "past",
        valid_from=since and _midnight(since.first),
        valid_to=until and _midnight(until.last),
        confidence=READ_BY_MODEL,
        sentence=next((n for n, one in enumerate(statements_in(node)) if fold(quote) in fold(one)), 0),
        quote=quote,
    )


def _subject(named: str, node: MemoryNode, text: str) -> str | None:
    """Return the subject of a claim; None if the text does not name it."""
    name = " ".join(named.split())
    if name.casefold() in _SPEAKER or (node.speaker and fold(name) == fold(node.speaker)):
        return node.speaker or USER
    return name if name and fold(name) in fold(text) else None


def _is_said(value: str, text: str, said: datetime) -> bool:
    """Return whether a text has a value: its words in any form, its date or its number."""
    words = frozenset(split_keywords(value))
    if fold(value) in fold(text) or (words and words <= frozenset(split_keywords(text))):
        return True
    day, number = date_of(value, said), number_of(value)
    if day is not None:
        return any(date_of(one, said) == day for one in (text, *find_times(text)))
    return number is not None and any((found := number_of(one)) and found[0] == number[0] for one in text.split())


def _days(given: str, text: str) -> Span | None:
    """Return the days of a date of the answer, such as `2024-05`; None if it is no date, or the text names no time."""
    names_time = find_times(text) or any(letter.isdigit() for letter in text)
    return date_of(given) if names_time and _DATE.fullmatch(given) else None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)
