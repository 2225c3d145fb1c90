"""JSON files are read value by value, whatever they hold."""

import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurogated.archive.foreign import Incoming, read_file, stream
from neurogated.archive.foreign.stream import Fault, FileEntry, files_of
from neurogated.errors import DatasetError
from neurogated.ingestion.messages import read_message
from tests.archive.foreign.files import chatgpt, written

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def _entries(path: Path) -> list[FileEntry | Fault]:
    with files_of(path) as files:
        return [one for file in files if not file.name.endswith(".png") for one in file.entries()]


def _values(path: Path) -> list[Any]:
    return [one.value if isinstance(one, FileEntry) else one.place for one in _entries(path)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stream")


@settings(max_examples=60, deadline=None)
@given(values=st.lists(_JSON, max_size=6), piece=st.integers(1, 40), indent=st.sampled_from([None, 2]))
def test_values_do_not_depend_on_the_pieces_in_which_a_file_is_read(
    folder: Path, values: list[Any], piece: int, indent: int | None
) -> None:
    path = folder / "values.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "_PIECE", piece)
        path.write_text(json.dumps(values, indent=indent, ensure_ascii=False), encoding="utf-8", errors="surrogatepass")
        expected = json.loads(path.read_bytes().decode("utf-8", "replace"))
        assert _values(path) == expected
        lines = [{"n": value} for value in expected]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        assert _values(path) == lines
        path.write_text(json.dumps({"owner": 1, "memories": expected}), encoding="utf-8")
        assert _values(path) == [*expected, {"owner": 1}]


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet='[]{}",:\\x1 \n', max_size=60), piece=st.integers(1, 9))
def test_no_text_breaks_the_reader(folder: Path, text: str, piece: int) -> None:
    path = folder / "broken.json"
    path.write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "_PIECE", piece)
        try:
            found = _entries(path)
        except DatasetError:
            return
        assert len(found) <= len(text) + 1


@pytest.mark.parametrize("piece", [1, 5, 1000])
def test_malformed_values_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(stream, "_PIECE", piece)
    path = tmp_path / "x.json"
    path.write_text(r'[{"a": 1}, {"a": tru, "b": "],\"}"}, {"a": [1, 2}, {"a": 3}]', encoding="utf-8")
    assert _values(path)[:2] == [{"a": 1}, "x.json[1]"]
    path.write_text('[{"a": 1}, {a: "}, {"}, {"a": 3}]', encoding="utf-8")
    assert _values(path) == [{"a": 1}, "x.json[1]", {"a": 3}]
    path.write_text('{"a": 1}\n{"a": \n{"a": 3}\n', encoding="utf-8")
    assert _values(path) == [{"a": 1}, "x.json[1]", {"a": 3}]


def test_a_file_that_ends_too_early_gives_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('[{"a": 1}, {"a": "half of a te', encoding="utf-8")
    assert _values(path)[:2] == [{"a": 1}, "x.json[1]"]


def test_deep_nesting_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(f"[{'[' * 200_000}{']' * 200_000}, 1]", encoding="utf-8")
    first, *_ = _entries(path)
    assert isinstance(first, Fault)
    assert "nested" in first.reason


def test_a_value_that_is_too_long_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_PIECE", 8)
    monkeypatch.setattr(stream, "_LONGEST", 64)
    path = tmp_path / "x.json"
    path.write_text(json.dumps(["a", "b" * 1000, "c"]), encoding="utf-8")
    assert _values(path) == ["a", "x.json[1]", "c"]


def test_other_files_are_refused(tmp_path: Path) -> None:
    html, damaged = tmp_path / "chat.html", tmp_path / "damaged.zip"
    html.write_text("<html>", encoding="utf-8")
    with pytest.raises(DatasetError, match="no JSON"):
        _values(html)
    with zipfile.ZipFile(damaged, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.json", json.dumps(list(range(5000))))
    damaged.write_bytes(damaged.read_bytes().replace(b"x.json", b"y.json", 1))
    with pytest.raises(DatasetError, match="cannot be read"):
        _values(damaged)
    with pytest.raises(DatasetError, match="cannot be read"):
        _values(tmp_path / "missing.json")


def test_names_in_a_zip_file_lead_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "in" / "x.zip"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../outside.json", "[1]")
        archive.writestr("/rooted.json", "[2]")
        archive.writestr("picture.png", "no JSON")
    assert sorted(_values(path)) == [1, 2]
    assert [one.name for one in tmp_path.rglob("*") if one.is_file()] == ["x.zip"]


def test_reading_a_file_takes_no_more_memory_the_larger_the_file_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "_PIECE", 1 << 14)
    peaks = []
    for number in (20, 80):
        said = [("user", f"{place} {'tea ' * 900}") for place in range(4)]
        path = written(tmp_path / "x.json", [chatgpt(said, f"c{one}") for one in range(number)])
        tracemalloc.start()
        count = sum(isinstance(one, Incoming) for one in read_file("chatgpt", path, read_message))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert count == 4 * number
    assert peaks[1] < 1.2 * peaks[0]
