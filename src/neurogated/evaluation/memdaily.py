"""MemDaily's data format: dated Chinese notes of many users, and a question about those of each.

Source: files and `post_process.py` of nuster1128/MemSim, commit 684e7ad.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from neurogated.errors import DatasetError
from neurogated.evaluation.gold import SOURCES_KEY, Collection, Dataset, Question, passage_of
from neurogated.evaluation.json_records import Record, read_json, records_of
from neurogated.ingestion.document import Document

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
                collections += _collections(user, kind, f"{kind}-{scenario}", counts)
    failed = "questions that the generator failed to write, which are not asked"
    notes = (f"{path.name}: {failed}: {counts[failed]} of {counts.total()}",) if counts[failed] else ()
    return Dataset(name, tuple(collections), notes)


def _collections(user: Record, kind: str, group: str, counts: Counter[str]) -> list[Collection]:
    """Return the notes of a user with the questions about them; nothing if none of them can be asked."""
    name = f"{group}-{user.get('tid', (int, str))}"
    asked = []
    for one in [Record(user.value["QA"], f"{user.where}, QA")] if user.has("QA") else user.records("question_list"):
        answer = str(one.value.get("answer"))
        if {one.question(), answer} & _FAILED:
            counts["questions that the generator failed to write, which are not asked"] += 1
            continue
        counts["asked"] += 1
        gold = frozenset(str(mid) for mid, _ in one.items("target_step_id"))
        key = f"{name}:{one.get('qid', (int, str), default=0)}"
        asked.append(Question(key, one.question(), gold, kind, (answer,), _moment(one)))
    return [Collection(name, tuple(map(_note, user.records("message_list"))), tuple(asked))] if asked else []


def _note(one: Record) -> Document:
    source = str(one.get("mid", (int, str)))
    about = {SOURCES_KEY: [source], **({"place": one.value["place"]} if one.has("place") else {})}
    passage = passage_of(one.get("message", str), about, one.where, role="user")
    return Document((passage,), timestamp=_moment(one), id=source)


def _moment(one: Record) -> datetime | None:
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
