"""LoCoMo's data format: a list of conversations, each with its own questions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from pathlib import Path

from neurogated.core.scope import Scope
from neurogated.errors import DatasetError
from neurogated.evaluation.gold import SOURCES_KEY, Collection, Dataset, Question, passage_of
from neurogated.evaluation.json_records import Record, read_records, text_of
from neurogated.ingestion.document import Document

_ADVERSARIAL = 5
_SESSION = re.compile(r"session_(\d+)")
_DIALOGUE_ID = re.compile(r"D:?(\d+):(\d+)")
"""Some evidence is written as `D:11:26` or `D30:05`; the turns are `D11:26` and `D30:5`."""
_SESSION_TIME = "%I:%M %p on %d %B, %Y"


def load_locomo(name: str, folder: Path) -> Dataset:
    """Read `<name>.json`; leave out adversarial questions and those without evidence in their conversation."""
    path = folder / f"{name}.json"
    records = read_records(path)
    collections = tuple(map(_conversation, records))
    for sample_id, times in Counter(collection.namespace for collection in collections).items():
        if times > 1:
            raise DatasetError(f"{path}: sample_id {sample_id!r} occurs {times} times; make them differ")
    return Dataset(name, collections, tuple(_notes(path.name, records, collections)))


def _conversation(record: Record) -> Collection:
    name = record.get("sample_id", str)
    conversation = Record(record.get("conversation", dict), f"{record.where}, conversation")
    numbers = sorted(int(match[1]) for match in map(_SESSION.fullmatch, conversation.value) if match)
    documents = [turn for number in numbers for turn in _session(conversation, number)]
    turns = Counter(_turns(documents))
    for turn, times in turns.items():
        if times > 1:
            raise DatasetError(f"{conversation.where}: dia_id {turn!r} occurs {times} times; make them differ")
    questions = [_question(qa, f"{name}:{place}", turns.keys()) for place, qa in enumerate(record.records("qa"))]
    return Collection(name, tuple(documents), tuple(q for q in questions if q is not None))


def _turns(documents: Iterable[Document]) -> Iterator[str]:
    """Yield the ids of the turns that contain words."""
    for document in documents:
        for passage in document.passages:
            yield from passage.metadata[SOURCES_KEY]


def _notes(file: str, records: Sequence[Record], collections: Sequence[Collection]) -> Iterator[str]:
    """Yield a note about evidence that names no turn, and one about questions left out because of it."""
    strays, silent = [], 0
    for record, collection in zip(records, collections, strict=True):
        turns, asked = set(_turns(collection.documents)), {question.id for question in collection.questions}
        for place, qa in enumerate(record.records("qa")):
            if qa.value["category"] != _ADVERSARIAL:
                strays += [part for part in _evidence(qa) if part not in turns]
                silent += f"{collection.namespace}:{place}" not in asked
    if strays:
        yield f"{file}: evidence that names no turn of its conversation is left out: {', '.join(map(repr, strays))}"
    if silent:
        yield f"{file}: questions without evidence are not asked: {silent}"


def _session(conversation: Record, number: int) -> Iterator[Document]:
    """Yield the turns of a session, each with its `dia_id` as id, so that indexing it again changes nothing."""
    moment = None
    when = conversation.value.get(f"session_{number}_date_time")
    if when:
        try:
            moment = datetime.strptime(when, _SESSION_TIME).replace(tzinfo=UTC)
        except (TypeError, ValueError):
            raise DatasetError(f"{conversation.where}: session_{number}_date_time {when!r} is no time") from None
    scope = Scope(session_id=f"session {number}")
    for turn in conversation.records(f"session_{number}"):
        text, caption = turn.get("text", str, default=""), turn.get("blip_caption", str, default="")
        spoken = " ".join(part for part in (text.strip(), f"[shares {caption}]" if caption else "") if part)
        if spoken:
            name = turn.get("dia_id", str)
            passage = passage_of(spoken, {SOURCES_KEY: [name]}, turn.where, speaker=turn.get("speaker", str))
            yield Document((passage,), metadata={"session": number}, timestamp=moment, scope=scope, id=name)


def _question(record: Record, question_id: str, turns: AbstractSet[str]) -> Question | None:
    """Return a question that the conversation answers, None for the others."""
    category = record.get("category", int)
    gold = frozenset(part for part in _evidence(record) if part in turns)
    if category == _ADVERSARIAL or not gold:
        return None
    answer = record.optional("answer", (str, int, float))
    answers = () if answer is None or not str(answer).strip() else (str(answer),)
    return Question(question_id, record.question(), gold, f"category {category}", answers)


def _evidence(record: Record) -> list[str]:
    """Return the ids of turns in a question's evidence; an entry without an id is returned as it is."""
    if not record.has("evidence"):
        return []
    entries = [text_of(value, where) for value, where in record.items("evidence")]
    found = ([f"D{int(one)}:{int(two)}" for one, two in _DIALOGUE_ID.findall(entry)] or [entry] for entry in entries)
    return [part for parts in found for part in parts]
