"""From a memory to a page on disk."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from neurogated import NeuroGraphMemory, Recall
from neurogated.errors import InputError
from neurogated.viewer import explain, write_page

if TYPE_CHECKING:
    from tests.viewer.conftest import PageReader


def test_texts_that_were_not_returned_are_fetched(
    memory: NeuroGraphMemory, read: Callable[[str], "PageReader"]
) -> None:
    memory.add_document("The pump failed on Monday.", title="Log")
    memory.add_document("Because the pump failed, the field was flooded.", title="Log")
    recall = memory.recall("Why was the field flooded?", top_n=1)
    text = read(explain(memory, recall)).all_text
    assert "The pump failed on Monday." in text
    assert "Because the pump failed, the field was flooded." in text


def test_a_forgotten_memory_is_no_error(memory: NeuroGraphMemory, recall: Recall) -> None:
    assert "no longer in the memory" in explain(memory, recall)


def test_a_page_replaces_an_older_one_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("old", encoding="utf-8")
    assert write_page("new \N{CANDLE}", file) == file
    assert file.read_text(encoding="utf-8") == "new \N{CANDLE}"
    assert list(tmp_path.iterdir()) == [file]


def test_a_page_that_cannot_be_finished_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "page.html"
    file.write_text("old", encoding="utf-8")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match="No space left on device"):
        write_page("new", file)
    assert file.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("name", ["", "missing/page.html", "file/page.html", "n" * 300])
def test_a_path_that_cannot_be_written_is_an_error_with_the_remedy(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="choose another file"):
        write_page("page", tmp_path / name)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_device_is_never_replaced() -> None:
    with pytest.raises(InputError, match="is not a file"):
        write_page("page", os.devnull)
