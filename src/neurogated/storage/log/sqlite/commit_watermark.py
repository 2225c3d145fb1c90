"""The last acknowledged write, noted beside the memory file.

SQLite takes a damaged log for one that ended early and drops its tail without a word. The note says how far the memory
had come, so that a loss is noticed. It also says whether the log was emptied when the memory was closed; see `sealing`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import zlib
from pathlib import Path

__all__ = ["CommitWatermark"]

_log = logging.getLogger(__name__)

# More than any note takes; of a file of garbage no more is read.
_LONGEST = 1024
_DIGITS = 20
_PARTS = 4
# Of one length, so that a line covers the one before it.
_OPEN, _CLOSED = b"open", b"shut"
_MODE = 0o644


class CommitWatermark:
    """A line: the memory's identity, the number of its last delta, whether its log was emptied, and their checksum.

    It is written after each commit and need not reach the disk with it: an older note claims less.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def read(self, identity: str) -> int:
        """Return the last acknowledged number of the memory `identity`, 0 where no sound note tells one."""
        noted = self._noted()
        return noted[1] if noted and noted[0] == identity.encode() else 0

    def last(self) -> int:
        """Return the last acknowledged number of whichever memory was here, 0 where no sound note tells one."""
        noted = self._noted()
        return noted[1] if noted else 0

    def says_open(self) -> bool:
        """Return whether a sound note tells of a memory that was not closed with an empty log."""
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
        _log.warning("%s is damaged; it is written anew with the next change", self._path)
        return None

    def write(self, identity: str, sequence: int, *, closed: bool = False) -> None:
        """Note that the delta `sequence` is on disk; `closed` tells that nothing is left in the log."""
        line = b" ".join(_parts(identity, sequence, _CLOSED if closed else _OPEN)) + b"\n"
        try:
            if self._descriptor is None:
                self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT, _MODE)
            os.pwrite(self._descriptor, line, 0)
        except OSError as error:
            # The write itself is safe in the memory file; only the notice of a later loss is missing.
            _log.warning("%s cannot be written: %s", self._path, error)

    def remove(self) -> None:
        """Forget the note, before another memory takes the place of this one."""
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
