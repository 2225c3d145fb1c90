"""Data sets by name: the formats of chats, and the bundled data set. Passages of texts are read by `hipporag`."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from neurogated.core.scope import Scope
from neurogated.errors import DatasetError
from neurogated.evaluation.gold import SOURCES_KEY, Collection, Dataset, Question, passage_of
from neurogated.evaluation.hipporag import load_hipporag
from neurogated.evaluation.json_records import Record, read_json, read_records, records_of, refuse_repeated, text_of
from neurogated.ingestion.document import Document

# --- BEAM ------------------------------------------------------------------------------------------------------------
# Long chats, each a folder with `chat.json` and `probing_questions/probing_questions.json`.
# Source: files of mohammadtavakoli78/BEAM, commit 5a64c99.

_SILENT = "abstention"  # The kind of question that the chat does not answer.
_PLACE = re.compile(r"\s*->->\s*\S+\s*$")
"""The place in the plan of the chat, which most messages of the user end with."""
_NUMBER = re.compile(r"\d+")
_WEEKDAY = re.compile(r"\(\S*|周\S")
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
    return Dataset(name, tuple(collections), _told(notes))


def _beam_messages(chat: object, path: Path) -> Iterator[Document]:
    """Yield the messages. The first one of a batch has the day of all; their numbers may repeat in other plans."""
    for session, batch in enumerate(_beam_batches(chat), start=1):
        records = [Record(one, f"{path}, batch {session}, message {place}") for place, one in enumerate(batch, start=1)]
        anchor = next((one.value["time_anchor"] for one in records if one.has("time_anchor")), None)
        told = f"{path}: {anchor!r} is no day such as 'March-15-2024'"
        day = None if anchor is None else _moment(anchor, told, "%B-%d-%Y")
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


def _moment(value: object, refusal: str, *forms: str) -> datetime:
    """Return a time, in UTC, by the first form that it has without the day of the week; raises DatasetError."""
    text = " ".join(_WEEKDAY.sub(" ", str(value)).split())
    for form in forms:
        with suppress(ValueError):
            return datetime.strptime(text, form).replace(tzinfo=UTC)
    raise DatasetError(refusal)


def _told(notes: Mapping[str, int], of: str = "") -> tuple[str, ...]:
    return tuple(f"{note}: {count}{of}" for note, count in notes.items() if count)


# --- LoCoMo ----------------------------------------------------------------------------------------------------------
# A list of conversations, each with its own questions.

_ADVERSARIAL = 5
_LOCOMO_SESSION = re.compile(r"session_(\d+)")
_DIALOGUE_ID = re.compile(r"D:?(\d+):(\d+)")
"""Some evidence is written as `D:11:26` or `D30:05`; the turns are `D11:26` and `D30:5`."""
_SESSION_TIME = "%I:%M %p on %d %B, %Y"


def load_locomo(name: str, folder: Path) -> Dataset:
    """Read `<name>.json`; leave out adversarial questions and those without evidence in their conversation."""
    path = folder / f"{name}.json"
    collections, strays, silent = list[Collection](), list[str](), 0
    for record in read_records(path):
        key, conversation = record.get("sample_id", str), f"{record.where}, conversation"
        documents = tuple(_locomo_turns(Record(record.get("conversation", dict), conversation)))
        sources = [source for one in documents for source in one.passages[0].metadata[SOURCES_KEY]]
        refuse_repeated(sources, conversation, "dia_id")
        turns, asked = set(sources), list[Question]()
        for place, qa in enumerate(record.records("qa")):
            category, evidence = qa.get("category", int), _locomo_evidence(qa)
            if category == _ADVERSARIAL:
                continue
            strays += [part for part in evidence if part not in turns]
            if gold := turns.intersection(evidence):
                answer = qa.optional("answer", (str, int, float))
                answers = () if answer is None or not str(answer).strip() else (str(answer),)
                about = frozenset(gold), f"category {category}", answers
                asked.append(Question(f"{key}:{place}", qa.question(), *about))
            else:
                silent += 1
        collections.append(Collection(key, documents, tuple(asked)))
    refuse_repeated((one.namespace for one in collections), path, "sample_id")
    named = f"{path.name}: evidence that names no turn of its conversation is left out: {', '.join(map(repr, strays))}"
    notes = _told({f"{path.name}: questions without evidence are not asked": silent})
    return Dataset(name, tuple(collections), (*([named] if strays else []), *notes))


def _locomo_turns(conversation: Record) -> Iterator[Document]:
    """Yield the turns that have words, each with its `dia_id` as id, so that indexing it again changes nothing."""
    for number in sorted(int(match[1]) for match in map(_LOCOMO_SESSION.fullmatch, conversation.value) if match):
        when = conversation.value.get(f"session_{number}_date_time")
        told = f"{conversation.where}: session_{number}_date_time {when!r} is no time"
        moment = _moment(when, told, _SESSION_TIME) if when else None
        scope = Scope(session_id=f"session {number}")
        for turn in conversation.records(f"session_{number}"):
            text, caption = turn.get("text", str, default=""), turn.get("blip_caption", str, default="")
            spoken = " ".join(part for part in (text.strip(), f"[shares {caption}]" if caption else "") if part)
            if spoken:
                key = turn.get("dia_id", str)
                passage = passage_of(spoken, {SOURCES_KEY: [key]}, turn.where, speaker=turn.get("speaker", str))
                yield Document((passage,), metadata={"session": number}, timestamp=moment, scope=scope, id=key)


def _locomo_evidence(record: Record) -> list[str]:
    """Return the ids of turns in a question's evidence; an entry without an id is returned as it is."""
    if not record.has("evidence"):
        return []
    entries = [text_of(value, where) for value, where in record.items("evidence")]
    found = ([f"D{int(one)}:{int(two)}" for one, two in _DIALOGUE_ID.findall(entry)] or [entry] for entry in entries)
    return [part for parts in found for part in parts]


# --- LongMemEval -----------------------------------------------------------------------------------------------------
# Questions, each with a history of dated sessions of its own. The files `_s`, `_m` and `_oracle` have the same fields.
# Source: the README of xiaowu0162/LongMemEval (2024), and files in this shape in public repositories.

_ABSTENTION = "_abs"
"""The end of the id of a question that the history does not answer."""


def load_longmemeval(name: str, folder: Path, *, by_session: bool = False) -> Dataset:
    """Read `<name>.json` for recall of turns: those that have `has_answer`.

    With `by_session`, it is for recall of sessions: those of `answer_session_ids`, found by any of their turns.
    """
    path = folder / f"{name}.json"
    records = read_records(path)
    refuse_repeated((record.get("question_id", str) for record in records), path, "question_id")
    asked = [record for record in records if not record.value["question_id"].endswith(_ABSTENTION)]
    collections = [_history(record, by_session=by_session) for record in asked]
    silent = sum(not question.gold for one in collections for question in one.questions)
    what = "session" if by_session else "turn"
    notes = {
        f"{path.name}: questions without an answer in their history, which are not asked": len(records) - len(asked),
        f"{path.name}: questions that name no {what} with the answer, which recall leaves out": silent,
    }
    return Dataset(name, tuple(collections), _told(notes, f" of {len(records)}"))


def _history(record: Record, *, by_session: bool) -> Collection:
    sessions = [value for value, _ in record.items("haystack_sessions")]
    names = [str(value) for value, _ in record.items("haystack_session_ids")]
    dates = [_day_and_time(value, where) for value, where in record.items("haystack_dates")]
    if not len(sessions) == len(names) == len(dates):
        raise DatasetError(
            f"{record.where} has {len(sessions)} haystack_sessions, {len(names)} haystack_session_ids and {len(dates)} "
            "haystack_dates, but must have one of each for a session"
        )
    turns, answering = list[Document](), set[str]()
    for number, (session, name, moment) in enumerate(zip(sessions, names, dates, strict=True), start=1):
        where = f"{record.where}, haystack_sessions[{number - 1}]"
        for place, turn in enumerate(Record({"turns": session}, where).records("turns"), start=1):
            if (text := turn.get("content", str, default="")).strip():
                source = name if by_session else f"{name}:{place}"
                passage = passage_of(text, {SOURCES_KEY: [source]}, turn.where, role=turn.get("role", str))
                # The number of the session is part of the ids, because a history may have one session twice.
                scope = Scope(session_id=f"{number} {name}")
                turns.append(Document((passage,), timestamp=moment, scope=scope, id=f"{number}:{place}"))
                answering.update([source] if turn.get("has_answer", bool, default=False) else ())
    if by_session:
        answering = {str(value) for value, _ in record.items("answer_session_ids")} & set(names)
    question_id, answer = record.get("question_id", str), record.optional("answer", (str, int, float))
    question = Question(
        question_id,
        record.question(),
        frozenset(answering),
        record.get("question_type", str, default="all"),
        () if answer is None else (str(answer),),
        _day_and_time(record.value["question_date"], record.where) if record.has("question_date") else None,
    )
    return Collection(question_id, tuple(turns), (question,))


def _day_and_time(value: object, where: str) -> datetime:
    told = f"{where}: {value!r} is no date such as '2023/05/30 (Tue) 23:40'"
    return _moment(value, told, "%Y/%m/%d %H:%M", "%Y/%m/%d", "%Y-%m-%d")


# --- MemDaily --------------------------------------------------------------------------------------------------------
# Dated Chinese notes of many users, and a question about those of each.
# Source: files and `post_process.py` of nuster1128/MemSim, commit 684e7ad.

_FAILED = frozenset({"[ERRORQ]", "[ERRORA]"})
"""What the generator writes in place of a question or an answer."""


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
    return Dataset(name, tuple(collections), _told({failed: counts["failed"]}, f" of {counts.total()}"))


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
    if not one.has("time"):
        return None
    told = f"{one.where}: {one.value['time']!r} is no time such as '2024年04月01日 周一 08:42'"
    return _moment(one.get("time", str), told, "%Y年%m月%d日 %H:%M", "%Y年%m月%d日%H:%M")


# --- By name ---------------------------------------------------------------------------------------------------------

__all__ = ["BUNDLED", "FORMATS", "SOURCES_KEY", "Collection", "Dataset", "Question", "dataset_folder", "load_dataset"]

BUNDLED = "sample"
"""The data set that comes with the package."""

FORMATS: Mapping[str, Callable[[str, Path], Dataset]] = {
    "beam": load_beam,
    "hipporag": load_hipporag,
    "locomo": load_locomo,
    "longmemeval": load_longmemeval,
    "longmemeval-sessions": partial(load_longmemeval, by_session=True),
    "memdaily": load_memdaily,
}


def load_dataset(name: str, folder: str | Path, file_format: str) -> Dataset:
    """Read the data set `name` from `folder`.

    Args:
        name: the files are `<name>_corpus.json` and `<name>.json` (hipporag), in the folder `<name>` (beam), or
            `<name>.json`.
        folder: the folder of the files.
        file_format: one of `FORMATS`.

    Raises:
        DatasetError: a file is missing, is not JSON, or lacks a field; the message names file and position.
    """
    if not name or Path(name).name != name or name in {".", ".."}:
        raise DatasetError(f"data set name {name!r} must be a plain name; give the folder as --dataset_dir")
    return FORMATS[file_format](name, Path(folder))


def dataset_folder(folder: str | Path, name: str) -> Path:
    """Return the folder of the data set `name`: `folder`, or the installed folder of the bundled data set."""
    given = Path(folder)
    if name != BUNDLED or (given / f"{name}.json").exists():
        return given
    # In a wheel the sample is in the package, in a checkout at the top of the repository.
    package = Path(__file__).parents[1]
    return next((place for place in (package / "dataset", package.parents[1] / "dataset") if place.is_dir()), given)
