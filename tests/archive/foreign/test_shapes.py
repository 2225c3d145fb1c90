"""Every shape is read as it was said: words, role, speaker, time, order and branch; and all of it is accounted for."""

from collections import Counter
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.archive.foreign import FORMATS, Incoming, IncomingItem, detect
from neurogated.core.scope import ANY_USER
from tests.archive.foreign.files import records
from tests.archive.foreign.shapes import SHAPES, Said

_ALL = pytest.mark.parametrize("name", SHAPES)


@pytest.fixture
def plain() -> MemoryConfig:
    return MemoryConfig(storage="memory", embedding_name="hash")


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
    expired = [one for one in texts if one.details.get("expires_at") and one.details["expires_at"].year < 2026]
    seen = [
        one
        for one in found
        if one not in expired and not (isinstance(one, Incoming) and (one.branch or one.is_private))
    ]
    assert [_said(one) for one in seen] == list(shape.said)
    assert [one.text for one in texts if one.branch] == list(shape.branches)
    if shape.sessions is not None:
        assert {one.details.get("session_id", "") for one in texts} == set(shape.sessions)


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


def test_each_format_has_two_shapes() -> None:
    counts = Counter(one.source for one in SHAPES.values())
    assert [name for name in FORMATS if counts[name] < 2] == []
