"""The reasons of the changes that a memory makes by itself."""

from __future__ import annotations

from typing import Final

DECAYED: Final = "decay_unused"
EXPIRED: Final = "expired"
DORMANT: Final = "tick: "
"""The beginning of the reason of a tick."""
WOKEN: Final = "use: "
"""The beginning of the reason of uses that wake memories."""
JUDGED: Final = "judge"
READ: Final = "read"
RESUMED: Final = "resume"
BACKGROUND: Final = "background"
"""The cause of the changes of a background thread."""


def comes_with_time(reason: str) -> bool:
    """Return whether a change came because time passed."""
    return reason in {DECAYED, EXPIRED} or reason.startswith((DORMANT, WOKEN))


def follows(reason: str) -> bool:
    """Return whether a change was computed from memories that were written before, without a call for it."""
    return reason in {JUDGED, READ, RESUMED} or reason.startswith(f"{BACKGROUND}: ")
