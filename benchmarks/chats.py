"""Readers of chats in the formats of BEAM and MemDaily, for the benchmarks that take `--format`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from neurogated.core.scope import Scope
from neurogated.errors import DatasetError
from neurogated.evaluation.datasets import FORMATS, told
from neurogated.evaluation.gold import SOURCES_KEY, Collection, Dataset, Question, passage_of
from neurogated.evaluation.json_records import Record, read_json, records_of
from neurogated.ingestion.document import Document

# --- BEAM ------------------------------------------------------------------------------------------------------------
# Long chats, each a folder with `chat.json` and `probing_questions/probing_questions.json`.
# Source: files of mohammadtavakoli78/BEAM, commit 5a64c99.

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
        file, key = chat.parent / "probing_questions" / "probing_questions.json", chat.parent.name
        questions, asked = Record(read_json(file), str(file)), list[Question]()
        documents = tuple(_beam_messages(read_json(chat), chat))
        known = {source for one in documents for source in one.passages[0].metadata[SOURCES_KEY]}
        unasked += len(questions.value.get(_SILENT, ()))
        for kind in questions.value:
            for one in questions.records(kind) if kind != _SILENT else ():
                # The numbers are in a list, or in lists by their part in a contradiction or an update.
                gold = frozenset(_NUMBER.findall(str(one.value.get("source_chat_ids")))) & known
                answers = [str(one.value[field]) for field in _ANSWERS if one.has(field)]
                asked.append(Question(f"{key}:{len(asked) + 1}", one.question(), gold, kind, tuple(answers[:1])))
        collections.append(Collection(key, documents, tuple(asked)))
    lost = sum(not one.gold for collection in collections for one in collection.questions)
    notes = {
        f"{name}: questions without an answer in their chat, which are not asked": unasked,
        f"{name}: questions that name no message with the answer, which recall leaves out": lost,
    }
    return Dataset(name, tuple(collections), told(notes))


def _beam_messages(chat: object, path: Path) -> Iterator[Document]:
    """Yield the messages. The first one of a batch has the day of all; their numbers may repeat in other plans."""
    for session, batch in enumerate(_beam_batches(chat), start=1):
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


def _beam_batches(value: Any) -> Iterator[list[Any]]:  # noqa: ANN401 - JSON
    """Yield the messages of each batch; the longest chats have a list of batches for each plan."""
    for one in value if isinstance(value, list) else ():
        if isinstance(one, dict) and isinstance(one.get("turns"), list):
            yield [message for turn in one["turns"] for message in (turn if isinstance(turn, list) else [turn])]
        else:
            yield from (
                batch for plan in (one.values() if isinstance(one, dict) else ()) for batch in _beam_batches(plan)
            )


# --- MemDaily --------------------------------------------------------------------------------------------------------
# Dated Chinese notes of many users, and a question about those of each.
# Source: files and `post_process.py` of nuster1128/MemSim, commit 684e7ad.

_FAILED = frozenset({"[ERRORQ]", "[ERRORA]"})
"""What the generator writes in place of a question or an answer."""
_TIME = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日(?:\s*周\S)?\s*(\d{1,2}):(\d{2})")


def load_memdaily(name: str, folder: Path) -> Dataset:
    """Read `<name>.json`, kinds of questions with their scenarios, or the list of a single scenario.

    The gold passages are the notes of `target_step_id`. Times have no zone and are taken for UTC.
    """
    path = folder / f"{name}.json"
    value = read_json(path)
    kinds = value if isinstance(value, dict) else {"all": {"all": value}}
    counts, collections = Counter[str](), []
    for kind, scenarios in kinds.items():
        for scenario, users in Record(scenarios, f"{path}, {kind}").value.items():
            for user in records_of(users or [], path):
                collections += _notes_of_user(user, kind, f"{kind}-{scenario}", counts)
    failed = f"{path.name}: questions that the generator failed to write, which are not asked"
    return Dataset(name, tuple(collections), told({failed: counts["failed"]}, f" of {counts.total()}"))


def _notes_of_user(user: Record, kind: str, group: str, counts: Counter[str]) -> list[Collection]:
    """Return the notes of a user with the questions about them; nothing if none of them can be asked."""
    name = f"{group}-{user.get('tid', (int, str))}"
    asked = []
    for one in [Record(user.value["QA"], f"{user.where}, QA")] if user.has("QA") else user.records("question_list"):
        answer = str(one.value.get("answer"))
        if {one.question(), answer} & _FAILED:
            counts["failed"] += 1
            continue
        counts["asked"] += 1
        gold = frozenset(str(mid) for mid, _ in one.items("target_step_id"))
        key = f"{name}:{one.get('qid', (int, str), default=0)}"
        asked.append(Question(key, one.question(), gold, kind, (answer,), _moment_of(one)))
    notes = list[Document]()
    for one in user.records("message_list") if asked else ():
        source = str(one.get("mid", (int, str)))
        about = {SOURCES_KEY: [source], **({"place": one.value["place"]} if one.has("place") else {})}
        passage = passage_of(one.get("message", str), about, one.where, role="user")
        notes.append(Document((passage,), timestamp=_moment_of(one), id=source))
    return [Collection(name, tuple(notes), tuple(asked))] if asked else []


def _moment_of(one: Record) -> datetime | None:
    """Return a time such as `2024年04月01日 周一 08:42`."""
    if not one.has("time"):
        return None
    found = _TIME.fullmatch(one.get("time", str).strip())
    try:
        year, month, day, hour, minute = map(int, found.groups() if found else ())
        return datetime(year, month, day, hour, minute, tzinfo=UTC)
    except ValueError:
        where, value = one.where, one.value["time"]
        raise DatasetError(f"{where}: {value!r} is no time such as '2024年04月01日 周一 08:42'") from None


READERS: Mapping[str, Callable[[str, Path], Dataset]] = {**FORMATS, "beam": load_beam, "memdaily": load_memdaily}
"""What reads a data set, given its name and its folder, by the names of formats."""
