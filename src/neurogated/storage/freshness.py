"""`Freshness`: how long readers wait for the writes of other processes, and which of these they need."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from neurogated.core.contexts import work_began
from neurogated.storage.index.follower import Follower
from neurogated.storage.index.graph_state import GraphState
from neurogated.utils.background import take

# Seconds for which a reader waits for the writes of other processes, and between two looks at them.
_PATIENCE, LOOK_SECONDS = 2.0, 0.005
# Seconds after which the reads of a long call need later writes, too.
_LONGEST_CALL = 1.0


def wanted() -> float:
    """Return the time until which a read needs the writes of other processes; ∞ for the present.

    The reads of one call need what was acknowledged before the call. So a database is asked once for all of them.
    """
    return max(work_began(), time.monotonic() - _LONGEST_CALL)


class Freshness:
    """Knows until when one index has the writes of other processes."""

    def __init__(self, follower: Follower) -> None:
        """Take the follower of the index."""
        self._follower = follower
        self.until = 0.0
        """The index has all writes that other processes acknowledged before this time, by `time.monotonic`."""

    def lacks_writes(self) -> bool:
        """Return whether another process may have written to the log since."""
        return self.until < self._follower.unchanged_since()

    def is_enough(self) -> bool:
        """Return whether the index has what a read needs."""
        return self.until >= wanted()

    def take(
        self, lock: threading.RLock, taken: list[bool], published: Callable[[], GraphState | None], *, latest: bool
    ) -> bool:
        """Take the busy lock of the engine for a reader, and note it in `taken`.

        Returns:
            Whether it was taken. If not, the reader must use the published state.
        """
        begin = time.monotonic()
        needed = min(begin, wanted())
        # A holder that waits for its turn to write follows the writes of other processes.
        while latest and not self._is_in(published(), needed):
            if take(lock, taken, LOOK_SECONDS):
                return True
            if time.monotonic() - begin > _PATIENCE:
                break
        return take(lock, taken, 0 if published() else -1)

    def _is_in(self, state: GraphState | None, moment: float) -> bool:
        """Return whether a published state has the writes that other processes acknowledged before a moment."""
        if self.until >= min(moment, self._follower.unchanged_since()):
            return True
        return state is not None and self._follower.is_end(state.view.sequence)
