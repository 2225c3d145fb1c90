"""The files of experiments."""

from __future__ import annotations

import itertools
import json
from collections.abc import Hashable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from neurogated.errors import StorageError

__all__ = ["new_folder", "write_json", "write_rankings"]


def new_folder(root: Path, prefix: str = "") -> Path:
    """Create a folder named by the time in UTC; a number is added if two begin in the same second.

    Raises:
        StorageError: it cannot be created.
    """
    name = prefix + datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    for number in itertools.count():
        folder = root / (f"{name}-{number}" if number else name)
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise StorageError(f"cannot create {folder} ({error}); choose another save_dir") from error
        break
    return folder


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write `value` as indented JSON."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_rankings(path: Path, rows: Iterable[tuple[str | int, Sequence[Hashable], str | None]]) -> None:
    """Write one line per question: its id, the names of the passages, best first, and the answer if there is one."""
    with path.open("w", encoding="utf-8") as lines:
        for question_id, ranked, answer in rows:
            line: dict[str, Any] = {"id": question_id, "ranked": list(ranked)}
            if answer is not None:
                line["answer"] = answer
            lines.write(json.dumps(line, ensure_ascii=False) + "\n")
