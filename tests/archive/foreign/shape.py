"""Small files of our own in the shapes in which other systems write them, with what must be read from each.

`shapes/FORMAT.json` has the shapes of a format by names.
"""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
