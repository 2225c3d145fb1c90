"""From a memory to a page on disk."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from neurogated.errors import InputError
from neurogated.viewer import write_page

if TYPE_CHECKING:
    pass


def test_a_page_that_cannot_be_finished_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "page.html"
    file.write_text("old", encoding="utf-8")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError):
        write_page("new", file)
    assert file.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("name", ["", "missing/page.html", "file/page.html", "n" * 300])
def test_a_path_that_cannot_be_written_is_an_error_with_the_remedy(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError):
        write_page("page", tmp_path / name)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
