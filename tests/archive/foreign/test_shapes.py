"""Every shape is read as it was said: words, role, speaker, time, order and branch; and all of it is accounted for."""

from __future__ import annotations

import copy
import dataclasses
import json
import sqlite3
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.archive.foreign import FORMATS, Incoming, IncomingItem, detect
from neurogated.components import foreign
from neurogated.components.texts import Texts
from neurogated.core.scope import ANY_USER
from neurogated.errors import DatasetError
from neurogated.ingestion.document import Document
from tests.archive.foreign.files import records

Said = tuple[str | None, str | None, str | None, str]
"""Role, speaker, time in ISO format and text."""


@dataclass(frozen=True)
class Shape:
    """A file, or several in a folder, and what is in it."""

    source: str
    files: Mapping[str, Any]
    """Contents by names: texts as they are, statements of SQL for a database, files of a zip file, else JSON."""
    said: Sequence[Said]
    left: Mapping[str, int] = field(default_factory=dict)
    """Records that are left out, by reason."""
    sessions: Sequence[str] | None = None
    branches: Sequence[str] = ()
    """Texts of branches that were left."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What is said of the first text, with times in ISO format."""
    notes: Sequence[str] = ()
    """A word of each note that an import tells."""

    def write(self, folder: Path) -> Path:
        """Write the files, and return the path to import."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            _write(folder / name, content)
        return folder / next(iter(self.files)) if len(self.files) == 1 else folder


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".zip":
        assert isinstance(content, dict)
        with zipfile.ZipFile(path, "w") as archive:
            for name, one in content.items():
                archive.writestr(name, one if isinstance(one, str) else json.dumps(one))
    elif path.suffix == ".db":
        assert isinstance(content, str)
        with sqlite3.connect(path) as database:
            database.executescript(content)
        database.close()
    elif isinstance(content, str):
        path.write_bytes(content.encode())
    elif path.suffix == ".jsonl":
        assert isinstance(content, list)
        path.write_text("".join(json.dumps(one) + "\n" for one in content), encoding="utf-8")
    else:
        path.write_text(json.dumps(content), encoding="utf-8")


def _shapes() -> dict[str, Shape]:
    found = {}
    for path in sorted((Path(__file__).parent / "shapes").glob("*.json")):
        for name, one in json.loads(path.read_text(encoding="utf-8")).items():
            said = [tuple(row) for row in one.pop("said")]
            found[f"{path.stem}: {name}"] = Shape(path.stem, said=said, **one)
    return found


SHAPES = _shapes()


_ALL = pytest.mark.parametrize("name", SHAPES)


def _said(one: Incoming | IncomingItem) -> Said:
    if isinstance(one, IncomingItem):
        return None, None, one.updated_at.isoformat() if one.updated_at else None, str(one.value["text"])
    time = one.details.get("timestamp")
    return one.role, one.speaker, time and time.isoformat(), one.text


@_ALL
def test_a_shape_is_recognised_and_read_as_it_was_said(tmp_path: Path, name: str) -> None:
    shape = SHAPES[name]
    path = shape.write(tmp_path / "in")
    assert detect(path) == shape.source
    found = [one for one in records(None, path) if isinstance(one, Incoming | IncomingItem)]
    texts = [one for one in found if isinstance(one, Incoming)]
    ends = [(one, one.details.get("expires_at") if isinstance(one, Incoming) else one.expires_at) for one in found]
    expired = [one for one, end in ends if end and end.year < 2026]
    seen = [
        one
        for one in found
        if one not in expired and not (isinstance(one, Incoming) and (one.branch or one.is_private))
    ]
    assert [_said(one) for one in seen] == list(shape.said)
    assert [one.text for one in texts if one.branch] == list(shape.branches)
    if shape.sessions is not None:
        assert {one.details.get("session_id", "") for one in texts} == set(shape.sessions)
    for name_of, wanted in shape.details.items():
        value = texts[0].details[name_of]
        assert (value.isoformat() if isinstance(value, datetime) else value) == wanted


@_ALL
def test_all_records_of_a_shape_are_taken_or_left_out_with_a_reason(
    tmp_path: Path, plain: MemoryConfig, name: str
) -> None:
    shape = SHAPES[name]
    with NeuroGraphMemory(plain) as memory:
        path = shape.write(tmp_path / "in")
        done = memory.admin.import_from(None, path, user_id="ana")
        assert dict(done.left_out) == dict(shape.left)
        assert done.texts == len(shape.said)
        assert done.present == done.texts + sum(shape.left.values())
        assert all(word in str(done.notes) for word in shape.notes)
        before = memory.store.view().sequence
        again = memory.admin.import_from(None, path, user_id="ana")
        assert (again.texts, again.added, again.left_out) == (done.texts, 0, done.left_out)
        assert memory.store.view().sequence == before


@_ALL
def test_all_branches_are_kept_apart_and_marked(tmp_path: Path, plain: MemoryConfig, name: str) -> None:
    shape = SHAPES[name]
    with NeuroGraphMemory(plain) as memory:
        done = memory.admin.import_from(None, shape.write(tmp_path / "in"), branches="all", include_private=True)
        assert "of another branch" not in done.left_out
        assert "private, not to be remembered" not in done.left_out
        marked = [one for one in memory.find(user_id=ANY_USER) if one.metadata.get("branch")]
        assert Counter(one.content for one in marked) == Counter(shape.branches)
        assert all(one.scope.session_id and "/" in one.scope.session_id for one in marked)


@_ALL
def test_an_import_that_is_killed_between_batches_and_repeated_is_that_of_one_import(
    tmp_path: Path, plain: MemoryConfig, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path, store = SHAPES[name].write(tmp_path / "in"), Texts.store
    monkeypatch.setattr(foreign, "_AT_ONCE", 1)

    def state(memory: NeuroGraphMemory) -> list[tuple[object, ...]]:
        found = memory.find(user_id=ANY_USER)
        return sorted(((one.id, one.content, one.role, one.speaker, one.timestamp) for one in found), key=str)

    with NeuroGraphMemory(plain) as whole, NeuroGraphMemory(plain) as memory:
        taken = whole.admin.import_from(None, path, user_id="ana").texts
        for most in range(0, taken, 2):
            left = iter(range(most))

            def killed(texts: Texts, documents: list[Document], left: Iterator[int] = left) -> object:
                if next(left, None) is None:
                    raise KeyboardInterrupt
                return store(texts, documents)

            with monkeypatch.context() as patch:
                patch.setattr(Texts, "store", killed)
                with pytest.raises(KeyboardInterrupt):
                    memory.admin.import_from(None, path, user_id="ana")
        memory.admin.import_from(None, path, user_id="ana")
        assert state(memory) == state(whole)


def test_each_format_has_four_shapes() -> None:
    counts = Counter(one.source for one in SHAPES.values())
    assert [name for name in FORMATS if counts[name] < 4] == []


_PLAIN = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.sampled_from(["", "x", "1"])
_KEYS = st.sampled_from(["role", "text", "id"])
_MESSED = st.recursive(
    _PLAIN, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_KEYS, inner, max_size=2), max_leaves=4
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_messed_up_value_stops_an_import_or_escapes_the_report(
    tmp_path_factory: pytest.TempPathFactory, plain: MemoryConfig, data: st.DataObject
) -> None:
    shape = SHAPES[data.draw(st.sampled_from([name for name in SHAPES if _json_files(SHAPES[name])]))]
    name = data.draw(st.sampled_from(_json_files(shape)))
    messed = {**shape.files, name: copy.deepcopy(shape.files[name])}
    place: Any = messed[name]
    while isinstance(place, dict | list) and place:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], dict | list) or data.draw(st.booleans()):
            place[key] = data.draw(_MESSED)
            break
        place = place[key]
    path = dataclasses.replace(shape, files=messed).write(tmp_path_factory.mktemp("messed"))
    with NeuroGraphMemory(plain) as memory:
        try:
            done = memory.admin.import_from(shape.source, path)
        except DatasetError:
            return
        assert done.present == done.texts + sum(done.left_out.values())
        assert done.faults <= sum(done.left_out.values())


def _json_files(shape: Shape) -> list[str]:
    return [name for name, content in shape.files.items() if isinstance(content, dict | list) and ".zip" not in name]
