"""A memory of format version 1, made with nothing but SQLite."""

import sqlite3
from pathlib import Path

from tests.durability.contents import killed_copy

__all__ = ["write_format_1"]

_GOLDEN = Path(__file__).with_name("format_1.sql")


def write_format_1(path: Path, *, killed: bool) -> None:
    """Write the golden memory to `path`; as a kill leaves it, with its content still in the log, if `killed`."""
    draft = path.parent / "draft" / path.name
    draft.parent.mkdir(parents=True)
    connection = sqlite3.connect(draft)
    layout, content = _GOLDEN.read_text(encoding="utf-8").split("INSERT INTO settings", 1)
    connection.executescript(layout + "COMMIT;")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.executescript("BEGIN; INSERT INTO settings" + content)
    if not killed:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    copy = killed_copy(draft, path.parent / "copy")
    connection.close()
    for file in copy.parent.iterdir():
        file.rename(path.parent / file.name)
