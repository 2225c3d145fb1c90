"""What a memory file takes over from one that it replaces, so that copies of its texts elsewhere are still found."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import NamedTuple

import apsw

from neurogated.storage.log.sqlite.connection import begun, connect
from neurogated.storage.log.sqlite.opened_files import place_of
from neurogated.storage.log.sqlite.settings import keep_incarnation, note_copy, read_copies, read_incarnation


class Heritage(NamedTuple):
    """The name of a memory in shared databases, and the places that have copies of its texts."""

    incarnation: str | None = None
    copies: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: Path) -> Heritage:
        """Return the heritage of the file that is to be replaced; an empty one if there is none, or it is damaged."""
        if path.exists():
            with contextlib.suppress(apsw.Error), contextlib.closing(connect(path)) as connection:
                connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
                return cls(read_incarnation(connection, place_of(path)), tuple(read_copies(connection)))
        return cls()

    def keep(self, connection: apsw.Connection, path: Path) -> None:
        """Record the heritage in the new file at `path`."""
        keep_incarnation(connection, place_of(path), self.incarnation)
        if self.copies:
            with begun(connection, "IMMEDIATE"):
                for place in self.copies:
                    note_copy(connection, place, exists=True)
