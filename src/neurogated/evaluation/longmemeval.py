"""LongMemEval's data format: questions, each with a history of dated sessions of its own.

The files `_s`, `_m` and `_oracle` have the same fields. Source: the README of
xiaowu0162/LongMemEval (2024), and files in this shape in public repositories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from neurogated.core.scope import Scope
from neurogated.errors import DatasetError
from neurogated.evaluation.gold import SOURCES_KEY, Collection, Dataset, Question, passage_of
from neurogated.evaluation.json_records import Record, read_records
from neurogated.ingestion.document import Document

_ABSTENTION = "_abs"
"""The end of the id of a question that the history does not answer."""
_FORMATS = ("%Y/%m/%d %H:%M", "%Y/%m/%d", "%Y-%m-%d")


def load_longmemeval(name: str, folder: Path) -> Dataset:
    """Read `<name>.json` for recall of turns: those that have `has_answer`."""
    return _load(name, folder, by_session=False)


def load_longmemeval_sessions(name: str, folder: Path) -> Dataset:
    """Read `<name>.json` for recall of sessions: those of `answer_session_ids`, found by any of their turns."""
    return _load(name, folder, by_session=True)


def _load(name: str, folder: Path, *, by_session: bool) -> Dataset:
    path = folder / f"{name}.json"
    records = read_records(path)
    for question_id, times in Counter(record.get("question_id", str) for record in records).items():
        if times > 1:
            raise DatasetError(f"{path}: question_id {question_id!r} occurs {times} times; make them differ")
    asked = [record for record in records if not record.value["question_id"].endswith(_ABSTENTION)]
    collections = [_collection(record, by_session=by_session) for record in asked]
    silent = sum(not question.gold for one in collections for question in one.questions)
    what = "session" if by_session else "turn"
    notes = {
        f"{path.name}: questions without an answer in their history, which are not asked": len(records) - len(asked),
        f"{path.name}: questions that name no {what} with the answer, which recall leaves out": silent,
    }
    told = tuple(f"{note}: {count} of {len(records)}" for note, count in notes.items() if count)
    return Dataset(name, tuple(collections), told)


def _collection(record: Record, *, by_session: bool) -> Collection:
    sessions = [value for value, _ in record.items("haystack_sessions")]
    names = [str(value) for value, _ in record.items("haystack_session_ids")]
    dates = [_moment(value, where) for value, where in record.items("haystack_dates")]
    if not len(sessions) == len(names) == len(dates):
        raise DatasetError(
            f"{record.where} has {len(sessions)} haystack_sessions, {len(names)} haystack_session_ids and {len(dates)} "
            "haystack_dates, but must have one of each for a session"
        )
    turns = [
        turn
        for number in range(len(sessions))
        for turn in _session(record, number, names[number], dates[number], by_session=by_session)
    ]
    if by_session:
        gold = {str(value) for value, _ in record.items("answer_session_ids")} & set(names)
    else:
        gold = {source for turn, has_answer in turns if has_answer for source in turn.passages[0].metadata[SOURCES_KEY]}
    question_id, answer = record.get("question_id", str), record.optional("answer", (str, int, float))
    question = Question(
        question_id,
        record.question(),
        frozenset(gold),
        record.get("question_type", str, default="all"),
        () if answer is None else (str(answer),),
        _moment(record.value["question_date"], record.where) if record.has("question_date") else None,
    )
    return Collection(question_id, tuple(turn for turn, _ in turns), (question,))


def _session(
    record: Record, number: int, name: str, moment: datetime, *, by_session: bool
) -> Iterator[tuple[Document, bool]]:
    """Yield the turns of a session that have words, and whether they have the answer.

    The number of the session is part of the ids, because a history may have one session twice.
    """
    where = f"{record.where}, haystack_sessions[{number}]"
    for place, turn in enumerate(Record({"turns": record.value["haystack_sessions"][number]}, where).records("turns")):
        text = turn.get("content", str, default="")
        if text.strip():
            source = name if by_session else f"{name}:{place + 1}"
            passage = passage_of(text, {SOURCES_KEY: [source]}, turn.where, role=turn.get("role", str))
            scope = Scope(session_id=f"{number + 1} {name}")
            yield (
                Document((passage,), timestamp=moment, scope=scope, id=f"{number + 1}:{place + 1}"),
                turn.get("has_answer", bool, default=False),
            )


def _moment(value: object, where: str) -> datetime:
    """Return a date such as `2023/05/30 (Tue) 23:40`."""
    words = str(value).split()
    text = " ".join(word for word in words if not word.startswith("("))
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise DatasetError(f"{where}: {value!r} is no date such as '2023/05/30 (Tue) 23:40'")
