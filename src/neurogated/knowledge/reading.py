"""What a language model reads in memories, several in one call: claims, names, and which of them caused another."""

import json
import logging
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple

from neurogated.core.commit import READ
from neurogated.core.delta import GraphDelta, PendingTask
from neurogated.core.facts import USER, Change, Claim, Slot
from neurogated.core.found import READ_BY_MODEL
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort, LanguageModel
from neurogated.core.view import GraphView
from neurogated.errors import UnusableAnswerError
from neurogated.knowledge.backlog import Answers
from neurogated.knowledge.checker import CLAIMS, ConflictChecker
from neurogated.knowledge.origin import is_message, statements_in
from neurogated.prompts.prompt_manager import STRENGTHS, PromptTemplateManager
from neurogated.slots.values import ATTRIBUTES, attribute_named, date_of, number_of
from neurogated.text.keywords import fold, split_keywords
from neurogated.text.time_spans import Span
from neurogated.text.times import find_times

_log = logging.getLogger(__name__)

# Most characters of a memory that the model reads, and of a value.
_CHARACTERS, _VALUE = 4_000, 200

# Most claims of one memory.
_CLAIMS = 16

TOGETHER = 8
"""Memories in one call, so that the answer about all of them stays below the usual limit of tokens."""
_NUMBER = re.compile(r"\D*(\d{1,3})(?:\.0)?")
"""The number of a message, as in `3`, `3.0` and `message 3`."""
_DATE = re.compile(r"\d{4}(?:-\d\d){0,2}")
_CHANGES = {"begins": Change.BEGINS, "ends": Change.ENDS}
_HOLDS = "holds"
_STATES = frozenset({_HOLDS, "past", "denied", *_CHANGES})
_OTHER_NAMES: Mapping[str, Sequence[str]] = {
    "claims": ("facts", "statements", "results", "items"),
    "message": ("id", "message_id", "number", "line"),
    "subject": ("entity", "who", "person"),
    "attribute": ("relation", "predicate", "property", "key"),
    "value": ("object",),
    "quote": ("evidence", "span"),
    "since": ("start", "from", "valid_from"),
    "until": ("end", "to", "valid_to"),
}
"""Names that small models give to the fields of an answer."""
_CLAIM = {"$ref": "#/$defs/claim"}
_ACCEPTED: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        name: {"type": "array", "anyOf": [{"const": []}, _CLAIM]} for name in ("claims", *_OTHER_NAMES["claims"])
    },
    "anyOf": [{"required": [name]} for name in ("claims", *_OTHER_NAMES["claims"], "names", "causes")],
    "$defs": {
        "claim": {
            "anyOf": [
                {"type": "object", "anyOf": [{"required": [name]} for name in ("value", *_OTHER_NAMES["value"])]},
                {"type": "object", "not": {"additionalProperties": {"not": _CLAIM}}},
                {"type": "array", "contains": _CLAIM},
            ]
        }
    },
}
"""What is read of an answer: no claims, or at least one thing with a value, at any depth; each is checked by itself."""
_SPEAKER = frozenset({USER, "i", "me", "we", "speaker", "我"})


class Reading(NamedTuple):
    """A memory that is read."""

    node: MemoryNode

    @property
    def nodes(self) -> tuple[MemoryNode, ...]:
        """The memory."""
        return (self.node,)


class Read(NamedTuple):
    """What a model read in a memory."""

    claims: Sequence[Claim] = ()
    names: tuple[str, ...] = ()
    effects: Sequence[tuple[str, str]] = ()
    """The ids of the memories that it caused, each with `weak`, `medium` or `strong`."""
    dropped: Mapping[str, int] = {}
    """How many parts of the answer about it cannot be used, by reason."""


@dataclass
class ReadingEnquiry:
    """Asks a language model what memories say, name and cause. The prompt has texts, days and speakers, and no ids."""

    kind = CLAIMS
    together = TOGETHER

    store: GraphStorePort
    checker: ConflictChecker
    model: LanguageModel
    prompts: PromptTemplateManager
    linked: Callable[[Mapping[str, tuple[str, ...]], Sequence[tuple[str, str, str]], datetime], GraphDelta]
    """Returns the delta of names and causes, under the write lock."""
    after: str | None = None

    def questions(self, _: GraphView, node: MemoryNode, __: Callable[[str], bool]) -> Sequence[Reading]:
        return [Reading(node)] if _text(node).strip() else []

    def ask(self, questions: Sequence[Reading]) -> Sequence[Read]:
        """Return what the memories say. Of an answer with faults, all that can be understood counts."""
        lines = list[str]()
        for number, (node,) in enumerate(questions, 1):
            kind = ({"speaker": node.speaker} if node.speaker else {}) | (
                {} if is_message(node) else {"document": True}
            )
            shown = {"message": number, "day": node.moment.date().isoformat(), **kind, "text": _text(node)}
            lines.append(json.dumps(shown, ensure_ascii=False))
        messages = self.prompts.render("claims", attributes=", ".join(ATTRIBUTES), messages="\n".join(lines))
        try:
            answer = self.model.infer_json(messages, self.prompts.schema("claims"), accepts=_ACCEPTED)
        except UnusableAnswerError as error:
            # Of several memories, it is unknown which the lost part was about.
            if error.partial is None or len(questions) > 1:
                raise
            answer = error.partial
        return _Answer(answer, [one.node for one in questions]).read()

    def delta(self, answers: Answers[Reading, Read], settled: Sequence[PendingTask], at: datetime) -> GraphDelta:
        """Return names, causes and claims, with the conflicts that they raise; the write lock is held."""
        names = {one.node.id: read.names for one, read in answers if read.names}
        causes = [(one.node.id, effect, strength) for one, read in answers for effect, strength in read.effects]
        delta = replace(self.linked(names, causes, at), settled=tuple(settled), reason=READ, at=at)
        claims = {one.node.id: read.claims for one, read in answers if read.claims}
        changed = {node.id: node for node in delta.nodes}
        nodes = [changed.get(node.id, node) for node in self.store.get_nodes(list(claims))]
        return self.checker.checked(delta, nodes, read=claims)

    def unused(self, answers: Answers[Reading, Read]) -> Mapping[str, int]:
        return sum((Counter(read.dropped) for _, read in answers), Counter[str]())


class _Answer:
    """The answer of a model about some memories. What cannot be used of it is counted by reason, and logged."""

    def __init__(self, answer: Mapping[str, Any], nodes: Sequence[MemoryNode]) -> None:
        self._answer = answer
        self._nodes = nodes
        self._dropped = [Counter[str]() for _ in nodes]

    def read(self) -> list[Read]:
        """Return what was read in each memory."""
        claims, names = defaultdict[int, list[Claim]](list), defaultdict[int, dict[str, None]](dict)
        effects = defaultdict[int, list[tuple[str, str]]](list)
        for entry in self._entries("claims"):
            if (place := self._place(entry, "message")) is None:
                continue
            node = self._nodes[place]
            claim = _claim(entry, node) if is_message(node) else "a claim of a document"
            if isinstance(claim, str):
                self._dropped[place][claim] += 1
            elif len(claims[place]) < _CLAIMS and claim not in claims[place]:
                claims[place].append(claim)
        for entry in self._entries("names"):
            if (place := self._place(entry, "message")) is not None:
                said = self._nodes[place].content
                given = entry.get("names")
                found = [name for name in (given if isinstance(given, list) else [given]) if isinstance(name, str)]
                names[place].update(dict.fromkeys(name for name in found if name.strip() and name in said))
        for entry in self._entries("causes"):
            cause, effect = self._place(entry, "cause"), self._place(entry, "effect")
            strength = _words(entry, "strength").casefold()
            if cause is not None and effect is not None and cause != effect and strength in STRENGTHS:
                effects[cause].append((self._nodes[effect].id, strength))
        if told := ", ".join(f"{n} × {reason}" for reason, n in sum(self._dropped, Counter[str]()).items()):
            _log.info("left out of the answer of the model: %s", told)
        return [
            Read(claims[place], tuple(names[place]), effects[place], dropped)
            for place, dropped in enumerate(self._dropped)
        ]

    def _entries(self, name: str) -> Iterator[dict[str, Any]]:
        for one in (name, *_OTHER_NAMES.get(name, ())):
            yield from _entries_in(self._answer.get(one) or (), {})

    def _place(self, entry: Mapping[str, Any], name: str) -> int | None:
        """Return the place of the memory that an entry names; of a single memory, the number may be missing."""
        number = _words(entry, name)
        found = _NUMBER.fullmatch(number)
        if found and 0 < int(found[1]) <= len(self._nodes):
            return int(found[1]) - 1
        if not number and len(self._nodes) == 1:
            return 0
        self._dropped[0]["no message of that number"] += 1
        return None


def _entries_in(given: Any, around: Mapping[str, Any]) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - as the model gave it
    """Yield the innermost objects, each with the fields of those around it: a model may list claims by message."""
    if isinstance(given, Mapping):
        inner = [
            value
            for value in given.values()
            if isinstance(value, Mapping)
            or (isinstance(value, list) and any(isinstance(one, Mapping) for one in value))
        ]
        fields = {**around, **{name: value for name, value in given.items() if value not in inner}}
        if not inner:
            yield fields
        for one in inner:
            yield from _entries_in(one, fields)
    elif isinstance(given, Sequence) and not isinstance(given, str):
        for one in given:
            yield from _entries_in(one, around)
    else:
        yield dict(around)


def _words(entry: Mapping[str, Any], name: str) -> str:
    """Return a field, also under a name that models give it, as one line of text; "" if it is missing or null."""
    given = next((entry[one] for one in (name, *_OTHER_NAMES.get(name, ())) if entry.get(one) is not None), None)
    return " ".join(str(given).split()) if isinstance(given, str | int | float) else ""


def _text(node: MemoryNode) -> str:
    return (" ".join(statements_in(node)) if is_message(node) else node.content)[:_CHARACTERS]


def _claim(entry: Mapping[str, Any], node: MemoryNode) -> Claim | str:
    text, value = _text(node), _words(entry, "value")
    subject, attribute = _words(entry, "subject"), _words(entry, "attribute")
    if subject.casefold() in _SPEAKER or (node.speaker and fold(subject) == fold(node.speaker)):
        subject = node.speaker or USER
    elif fold(subject) not in fold(text):
        subject = ""
    state = _words(entry, "state").casefold() or _HOLDS
    if not subject or not attribute:
        return "no subject of the text, or no attribute"
    if not value or len(value) > _VALUE or not _is_said(value, text, node.moment):
        return "no value of the text"
    if state not in _STATES:
        return "an unknown state"
    place, quote = _quoted(_words(entry, "quote"), value, node)
    since, until = (_days(_words(entry, name), text, node.moment) for name in ("since", "until"))
    return Claim(
        Slot(subject, attribute_named(attribute).key),
        value,
        is_denied=state == "denied",
        change=_CHANGES.get(state),
        is_past=state == "past",
        valid_from=since and _midnight(since.first),
        valid_to=until and _midnight(until.last),
        confidence=READ_BY_MODEL,
        sentence=place,
        quote=quote,
    )


def _quoted(quote: str, value: str, node: MemoryNode) -> tuple[int, str]:
    """Return the sentence with a value, by its place, and the quote, or the sentence with most of its words."""
    sentences = statements_in(node)
    if quote:
        for place, sentence in enumerate(sentences):
            if fold(quote) in fold(sentence):
                return place, quote
        if fold(quote) in fold(_text(node)):
            return 0, quote
    words, said = set(split_keywords(quote)), node.moment

    def fitness(place: int) -> tuple[bool, int, int]:
        sentence = sentences[place]
        return _is_said(value, sentence, said), len(words.intersection(split_keywords(sentence))), -place

    best = max(range(len(sentences)), key=fitness)
    return best, sentences[best]


def _is_said(value: str, text: str, said: datetime) -> bool:
    """Return whether a text has a value: its words in any form, its date or its number."""
    words = frozenset(split_keywords(value))
    if fold(value) in fold(text) or (words and words <= frozenset(split_keywords(text))):
        return True
    day, number = date_of(value, said), number_of(value)
    if day is not None:
        return any(date_of(one, said) == day for one in (text, *find_times(text)))
    return number is not None and any((found := number_of(one)) and found[0] == number[0] for one in text.split())


def _days(given: str, text: str, said: datetime) -> Span | None:
    """Return the days of a time of the answer, as our own reader of days reads the words of the text.

    The answer has these words, or a date such as `2024-05`, which only says which time of the text is meant: models
    count days wrongly. None if the text has no such time.
    """
    if not given:
        return None
    if fold(given) in fold(text) and not _DATE.fullmatch(given):
        return date_of(given, said)
    meant = date_of(given) if _DATE.fullmatch(given) else None
    named = [days for one in (text, *find_times(text)) if (days := date_of(one, said))]
    return next((one for one in named if meant and one.meets(meant)), None)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)
