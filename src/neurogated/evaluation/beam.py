"""BEAM's data format: long chats, each a folder with `chat.json` and `probing_questions/probing_questions.json`.

Source: files of mohammadtavakoli78/BEAM, commit 5a64c99.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from neurogated.core.scope import Scope
from neurogated.errors import DatasetError
from neurogated.evaluation.gold import SOURCES_KEY, Collection, Dataset, Question, passage_of
from neurogated.evaluation.json_records import Record, read_json
from neurogated.ingestion.document import Document

_SILENT = "abstention"  # The kind of question that the chat does not answer.
_PLACE = re.compile(r"\s*->->\s*\S+\s*$")
"""The place in the plan of the chat, which most messages of the user end with."""
_NUMBER = re.compile(r"\d+")
_ANSWERS = ("answer", "ideal_answer", "ideal_summary", "ideal_response", "expected_compliance")


def load_beam(name: str, folder: Path) -> Dataset:
    """Read the chats of the folder `<name>`, such as `100K`, for recall of the messages of `source_chat_ids`."""
    chats = sorted((folder / name).glob("*/chat.json"), key=lambda path: (len(path.parent.name), path.parent.name))
    if not chats:
        raise DatasetError(f"{folder / name} has no folder with a chat.json; check --dataset and --dataset_dir")
    collections, unasked = [], 0
    for chat in chats:
        file = chat.parent / "probing_questions" / "probing_questions.json"
        questions = Record(read_json(file), str(file))
        unasked += len(questions.value.get(_SILENT, ()))
        collections.append(_collection(chat, questions))
    lost = sum(not one.gold for collection in collections for one in collection.questions)
    notes = (
        f"{name}: questions without an answer in their chat, which are not asked: {unasked}",
        f"{name}: questions that name no message with the answer, which recall leaves out: {lost}",
    )
    return Dataset(name, tuple(collections), tuple(note for note in notes if not note.endswith(": 0")))


def _collection(chat: Path, questions: Record) -> Collection:
    documents, name, asked = tuple(_documents(read_json(chat), chat)), chat.parent.name, list[Question]()
    known = {source for one in documents for source in one.passages[0].metadata[SOURCES_KEY]}
    for kind in questions.value:
        for one in questions.records(kind) if kind != _SILENT else ():
            # The numbers are in a list, or in lists by their part in a contradiction or an update.
            gold = frozenset(_NUMBER.findall(str(one.value.get("source_chat_ids")))) & known
            answers = [str(one.value[field]) for field in _ANSWERS if one.has(field)]
            asked.append(Question(f"{name}:{len(asked) + 1}", one.question(), gold, kind, tuple(answers[:1])))
    return Collection(name, documents, tuple(asked))


def _documents(chat: object, path: Path) -> Iterator[Document]:
    """Yield the messages. The first one of a batch has the day of all; their numbers may repeat in other plans."""
    for session, batch in enumerate(_batches(chat), start=1):
        records = [Record(one, f"{path}, batch {session}, message {place}") for place, one in enumerate(batch, start=1)]
        anchor = next((one.value["time_anchor"] for one in records if one.has("time_anchor")), None)
        try:
            day = None if anchor is None else datetime.strptime(str(anchor), "%B-%d-%Y").replace(tzinfo=UTC)
        except ValueError:
            raise DatasetError(f"{path}: {anchor!r} is no day such as 'March-15-2024'") from None
        for place, one in enumerate(records, start=1):
            role, text = one.get("role", str), one.get("content", str, default="")
            if text := (_PLACE.sub("", text) if role == "user" else text).strip():
                passage = passage_of(text, {SOURCES_KEY: [str(one.get("id", (int, str)))]}, one.where, role=role)
                yield Document((passage,), timestamp=day, scope=Scope(session_id=f"{session}"), id=f"{session}:{place}")


def _batches(value: Any) -> Iterator[list[Any]]:  # noqa: ANN401 - JSON
    """Yield the messages of each batch; the longest chats have a list of batches for each plan."""
    for one in value if isinstance(value, list) else ():
        if isinstance(one, dict) and isinstance(one.get("turns"), list):
            yield [message for turn in one["turns"] for message in (turn if isinstance(turn, list) else [turn])]
        else:
            yield from (batch for plan in (one.values() if isinstance(one, dict) else ()) for batch in _batches(plan))
