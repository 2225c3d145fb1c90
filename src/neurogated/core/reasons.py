"""The reasons of the changes that a memory makes by itself."""

from __future__ import annotations

import re
from typing import Final

DECAYED: Final = "decay_unused"
EXPIRED: Final = "expired"
REFRESHED: Final = "refresh items"
DORMANT: Final = "tick: "
"""The beginning of the reason of a tick."""
WOKEN: Final = "use: "
"""The beginning of the reason of uses that wake memories."""
JUDGED: Final = "judge"
READ: Final = "read"
RESUMED: Final = "resume"
BACKGROUND: Final = "background"
"""The cause of the changes of a background thread."""
TICKED: Final = "on a tick"
_AFTER: Final = re.compile(r"\S+ after ([0-9a-f]{32}): ")
_UNDO: Final = re.compile(r"undo(?: for one user)?, (\d+) back: ")


def after_memory(policy: str, memory: str) -> str:
    """Return the cause of the changes of a policy that runs after a memory was added; `memory` is a hash of its id."""
    return f"{policy} after {memory}"


def added_before(reason: str) -> str | None:
    """Return the hash of the id of the memory after which a policy made a change; None for any other change."""
    found = _AFTER.match(reason)
    return found and found[1]


def undo_of(reason: str, back: int, *, is_whole: bool) -> str:
    """Return the reason of an undo of the change that is so many entries of the history before it.

    Numbers of changes would be other ones in a copy of the memory.
    """
    return f"undo{'' if is_whole else ' for one user'}, {back} back: {reason}"


def undone_by(reason: str) -> int | None:
    """Return how many entries before it an undo took back a change; None for any other change."""
    found = _UNDO.match(reason)
    return found and int(found[1])


def is_whole_undo(reason: str) -> bool:
    """Return whether an undo took back a change for all users."""
    return undone_by(reason) is not None and reason.startswith("undo,")


def comes_with_time(reason: str) -> bool:
    """Return whether a change came because time passed."""
    return reason in {DECAYED, EXPIRED, REFRESHED} or reason.startswith((DORMANT, WOKEN)) or f" {TICKED}: " in reason


def follows(reason: str) -> bool:
    """Return whether a change was computed from memories that were written before, without a call for it."""
    is_of_model = reason in {JUDGED, READ, RESUMED} or reason.startswith(f"{BACKGROUND}: ")
    return is_of_model or added_before(reason) is not None
