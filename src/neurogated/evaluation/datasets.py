"""Data sets in HippoRAG's and in LoCoMo's format, read into one form."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from neurogated.errors import DatasetError, InputError
from neurogated.ingestion.document import Document, Passage

__all__ = ["BUNDLED", "FORMATS", "SOURCES_KEY", "Collection", "Dataset", "Question", "dataset_folder", "load_dataset"]

SOURCES_KEY = "sources"
"""Metadata under which a node lists the data set's own names of the passages it comes from."""

BUNDLED = "sample"
"""The data set that comes with the package."""

_ADVERSARIAL = 5
_SESSION = re.compile(r"session_(\d+)")
_DIALOGUE_ID = re.compile(r"D\d+:\d+")
_SESSION_TIME = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the passages that answer it."""

    id: str | int
    text: str
    gold: frozenset[Hashable]
    """The data set's names of the passages: corpus idx, or dia_id."""
    kind: str
    """What the data set calls this sort of question."""
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents and the questions about them; questions search their own collection only."""

    namespace: str | None
    """Where it goes in the memory; None for the memory's own namespace."""
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named data set; each collection goes into a namespace of its own."""

    name: str
    collections: tuple[Collection, ...]


def load_dataset(name: str, folder: str | Path, file_format: str) -> Dataset:
    """Read the data set `name` from `folder`.

    Args:
        name: the files are `<name>_corpus.json` and `<name>.json` (hipporag) or `<name>.json` (locomo).
        folder: where they are.
        file_format: one of `FORMATS`.

    Raises:
        DatasetError: a file is missing, is not JSON, or lacks a field; file and position are named.
    """
    if not name or Path(name).name != name or name in {".", ".."}:
        raise DatasetError(f"data set name {name!r} must be a plain name; give the folder as --dataset_dir")
    return FORMATS[file_format](name, Path(folder))


def dataset_folder(folder: str | Path, name: str) -> Path:
    """Return where the data set `name` is: in `folder`, or, for the bundled one, where it was installed."""
    given = Path(folder)
    if name != BUNDLED or (given / f"{name}.json").exists():
        return given
    # In a wheel the sample lies in the package, in a checkout at its top.
    package = Path(__file__).parents[1]
    return next((place for place in (package / "dataset", package.parents[1] / "dataset") if place.is_dir()), given)


class _Record:
    """A JSON object that knows where it stands, for errors that name the place."""

    def __init__(self, value: Any, where: str) -> None:  # noqa: ANN401 - JSON
        if not isinstance(value, dict):
            raise DatasetError(f"{where} is {_kind(value)}, but must be an object")
        self.value, self.where = value, where

    def get(self, field: str, kinds: type | tuple[type, ...], *, default: Any = None) -> Any:  # noqa: ANN401 - JSON
        """Return a field of the given JSON type; raise DatasetError where it is missing and has no default."""
        value = self.value.get(field, default)
        if value is None and default is None:
            raise DatasetError(f"{self.where} lacks the field {field!r}")
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            raise DatasetError(f"{self.where}: field {field!r} is {_kind(value)}, which it must not be")
        return value

    def records(self, field: str) -> Iterator[_Record]:
        """Yield the objects of a list field."""
        for position, value in enumerate(self.get(field, list)):
            yield _Record(value, f"{self.where}, {field}[{position}]")


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _read_records(path: Path) -> list[_Record]:
    try:
        values = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise DatasetError(f"{path} does not exist; check --dataset and --dataset_dir") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path} cannot be read ({error})") from error
    except json.JSONDecodeError as error:
        raise DatasetError(f"{path} is not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None
    if not isinstance(values, list):
        raise DatasetError(f"{path} holds {_kind(values)}, but must hold a list")
    return [_Record(value, f"{path}, entry {position}") for position, value in enumerate(values)]


# HippoRAG


def _load_hipporag(name: str, folder: Path) -> Dataset:
    corpus = _read_records(folder / f"{name}_corpus.json")
    questions = tuple(_hipporag_question(record) for record in _read_records(folder / f"{name}.json"))
    documents = _merged(_hipporag_documents(corpus))
    return Dataset(name, (Collection(None, tuple(documents), questions),))


def _hipporag_documents(corpus: Sequence[_Record]) -> Iterator[Document]:
    """Yield a document a run of rows that share a title: rows in a row are parts of one text, in order."""
    for title, rows in groupby(enumerate(corpus), key=lambda row: row[1].get("title", str, default="")):
        passages = []
        for position, record in rows:
            idx = record.get("idx", int, default=position)
            passages.append(_passage(record.get("text", str), {SOURCES_KEY: [idx]}, record.where))
        try:
            yield Document(tuple(passages), title or None)
        except InputError as error:
            raise DatasetError(f"{record.where}: {error}") from None


def _hipporag_question(record: _Record) -> Question:
    gold = frozenset(
        paragraph.get("idx", int)
        for paragraph in record.records("paragraphs")
        if paragraph.get("is_supporting", bool, default=False)
    )
    answers = record.get("answer", (list, str), default=[])
    kind = record.value.get("kind") or record.value.get("type") or "all"
    return Question(
        record.get("id", (str, int)),
        _question_text(record),
        gold,
        str(kind),
        (answers,) if isinstance(answers, str) else tuple(map(str, answers)),
    )


# LoCoMo


def _load_locomo(name: str, folder: Path) -> Dataset:
    collections = tuple(_conversation(record) for record in _read_records(folder / f"{name}.json"))
    for sample_id, times in Counter(collection.namespace for collection in collections).items():
        if times > 1:
            raise DatasetError(f"{folder / name}.json: sample_id {sample_id!r} stands {times} times; make them differ")
    return Dataset(name, collections)


def _conversation(record: _Record) -> Collection:
    name = record.get("sample_id", str)
    conversation = _Record(record.get("conversation", dict), f"{record.where}, conversation")
    numbers = sorted(int(match[1]) for match in map(_SESSION.fullmatch, conversation.value) if match)
    sessions = (_session(conversation, number) for number in numbers)
    documents = [session for session in sessions if session is not None]
    turns = {
        source for document in documents for passage in document.passages for source in passage.metadata[SOURCES_KEY]
    }
    questions = [_locomo_question(qa, f"{name}:{place}", turns) for place, qa in enumerate(record.records("qa"))]
    return Collection(name, tuple(_merged(documents)), tuple(q for q in questions if q is not None))


def _session(conversation: _Record, number: int) -> Document | None:
    """Return a session as a document whose passages are its turns, None if nothing was said in it."""
    metadata: dict[str, Any] = {"session": number}
    when = conversation.value.get(f"session_{number}_date_time")
    if when:
        try:
            moment = datetime.strptime(when, _SESSION_TIME).replace(tzinfo=UTC)
        except (TypeError, ValueError):
            raise DatasetError(f"{conversation.where}: session_{number}_date_time {when!r} is no time") from None
        metadata |= {"timestamp": moment.timestamp(), "date": when}
    passages = []
    for turn in conversation.records(f"session_{number}"):
        text, caption = turn.get("text", str, default=""), turn.get("blip_caption", str, default="")
        spoken = " ".join(part for part in (text.strip(), f"[shares {caption}]" if caption else "") if part)
        about = {"speaker": turn.get("speaker", str), SOURCES_KEY: [turn.get("dia_id", str)]}
        if spoken:
            passages.append(_passage(spoken, about, turn.where))
    return Document(tuple(passages), metadata=metadata) if passages else None


def _locomo_question(record: _Record, question_id: str, turns: set[str]) -> Question | None:
    """Return a question that has an answer in the conversation, None for the others."""
    category = record.get("category", int)
    evidence = " ".join(map(str, record.get("evidence", list, default=[])))
    gold = frozenset(_DIALOGUE_ID.findall(evidence)) & turns
    if category == _ADVERSARIAL or not gold:
        return None
    answer = str(record.value.get("answer", ""))
    return Question(question_id, _question_text(record), gold, f"category {category}", (answer,))


# Both


def _question_text(record: _Record) -> str:
    text: str = record.get("question", str)
    if not text.strip():
        raise DatasetError(f"{record.where}: field 'question' is blank")
    return text


def _passage(text: str, metadata: Mapping[str, Any], where: str) -> Passage:
    try:
        return Passage(text, metadata)
    except InputError as error:
        raise DatasetError(f"{where}: {error}") from None


def _merged(documents: Iterator[Document] | Sequence[Document]) -> list[Document]:
    """Join documents that are the same to the letter, their passages naming the sources of both."""
    by_id: dict[str, Document] = {}
    for document in documents:
        twin = by_id.get(document.id)
        by_id[document.id] = document if twin is None else _with_sources_of(twin, document)
    return list(by_id.values())


def _with_sources_of(document: Document, twin: Document) -> Document:
    passages = tuple(
        Passage(a.text, {**a.metadata, SOURCES_KEY: [*a.metadata[SOURCES_KEY], *b.metadata[SOURCES_KEY]]})
        for a, b in zip(document.passages, twin.passages, strict=True)
    )
    return Document(passages, document.title, document.metadata)


FORMATS: Mapping[str, Callable[[str, Path], Dataset]] = {"hipporag": _load_hipporag, "locomo": _load_locomo}
