"""The commit watermark: the number of the last acknowledged write, in a note beside the memory file.

SQLite takes a damaged log for one that ended early and silently drops its tail. The note tells how many changes the
memory had, so that a loss is noticed. It also tells whether closing the memory emptied the log; see `sealing`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import zlib
from pathlib import Path

from neurogated.core.files import private

_log = logging.getLogger(__name__)

# Longer than any note; no more of a damaged file is read.
_LONGEST = 1024
_DIGITS = 20
_PARTS = 4
# Both have the same length, so that a new line covers the old one.
_OPEN, _CLOSED = b"open", b"shut"


class CommitWatermark:
    """One line: the memory's identity, the number of its last delta, whether its log was emptied, and a checksum.

    It is written after each commit and need not reach the disk with it: an older note claims less.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def read(self, identity: str) -> int:
        """Return the last acknowledged number of the memory `identity`; 0 without a sound note about it."""
        noted = self._noted()
        return noted[1] if noted and noted[0] == identity.encode() else 0

    def last(self) -> int:
        """Return the last acknowledged number of any memory at this path; 0 without a sound note."""
        noted = self._noted()
        return noted[1] if noted else 0

    def says_open(self) -> bool:
        """Return whether a sound note says that the memory was not closed with an empty log."""
        noted = self._noted()
        return noted is not None and noted[2] == _OPEN

    def _noted(self) -> tuple[bytes, int, bytes] | None:
        try:
            with self._path.open("rb") as file:
                parts = file.read(_LONGEST).split()
        except OSError:
            return None
        if len(parts) == _PARTS:
            identity, sequence, state, _ = parts
            if parts == _parts(identity.decode("ascii", "replace"), _number(sequence), state):
                return identity, _number(sequence), state
        _log.warning("%s is damaged; the next change rewrites it", self._path)
        return None

    def write(self, identity: str, sequence: int, *, closed: bool = False) -> None:
        """Record that the delta `sequence` is on disk; `closed` means that the log is empty."""
        line = b" ".join(_parts(identity, sequence, _CLOSED if closed else _OPEN)) + b"\n"
        try:
            if self._descriptor is None:
                self._descriptor = private(self._path, os.O_WRONLY | os.O_CREAT)
            os.pwrite(self._descriptor, line, 0)
        except OSError as error:
            # The write itself is safe in the memory file; only a later loss might go unnoticed.
            _log.warning("%s cannot be written: %s", self._path, error)

    def remove(self) -> None:
        """Delete the note, before another memory replaces this one."""
        self.close()
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Release the file."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None


def _parts(identity: str, sequence: int, state: bytes) -> list[bytes]:
    said = b"%s %s %s" % ((identity or "-").encode(), f"{sequence:0{_DIGITS}d}".encode(), state)
    return [*said.split(), f"{zlib.crc32(said):08x}".encode()]


def _number(text: bytes) -> int:
    return int(text) if text.isdigit() else 0
