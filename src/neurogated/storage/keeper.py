"""Keeping the working form of a graph on disk, in the background, when much of it has changed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from neurogated.storage.kept_forms import FrozenForm, KeptForms

__all__ = ["Keeper"]

_log = logging.getLogger(__name__)

# How large a part of a graph may have changed before it is kept anew; so much is made up for at the next opening.
_SHARE = 1 / 32
# A rule for all edges counts as a change of so many of them, since it is evaluated anew at the next opening.
_OPERATOR_SHARE = 1 / 1_000


@dataclass(slots=True)
class _Work:
    """What one thread does."""

    thread: threading.Thread
    cancelled: threading.Event


class Keeper:
    """Counts the changes of one graph and keeps its form when they are many.

    Args:
        kept: where.
        freeze: gives the present form under the graph's lock; None where it cannot be kept just now.
        adopt: is told, under the graph's lock too, where the frozen form is kept; says whether that is still of use.
        least: how many changes there must be.
    """

    def __init__(
        self,
        kept: KeptForms,
        freeze: Callable[[], FrozenForm | None],
        adopt: Callable[[FrozenForm, Path], None],
        is_current: Callable[[FrozenForm], bool],
        least: int,
    ) -> None:
        self._kept = kept
        self._freeze = freeze
        self._adopt = adopt
        self._is_current = is_current
        self._least = least
        self._changes = 0.0
        self._work: _Work | None = None
        self._lock = threading.Lock()

    def note(self, changes: int, operators: int, size: int) -> None:
        """Note changes of a graph that has `size` nodes and edges; begin to keep it where they have become many."""
        with self._lock:
            self._changes += changes + operators * _OPERATOR_SHARE * size
            is_due = self._changes >= max(self._least, _SHARE * size)
            if not is_due or (self._work is not None and self._work.thread.is_alive()):
                return
            self._changes = 0
            cancelled = threading.Event()
            thread = threading.Thread(target=self._keep, args=(cancelled,), name="neurogated-keeper")
            self._work = _Work(thread, cancelled)
            thread.start()

    def settle(self) -> None:
        """Wait until what was begun is kept; not to be called with the graph's lock held."""
        work = self._work
        if work is not None and work.thread is not threading.current_thread():
            work.thread.join()

    def cancel(self) -> None:
        """Let go of what was begun; not to be called with the graph's lock held."""
        if self._work is not None:
            self._work.cancelled.set()
        self.settle()

    def _keep(self, cancelled: threading.Event) -> None:
        frozen = self._freeze()
        if frozen is None:
            return
        try:
            folder = self._kept.write(frozen, lambda: not cancelled.is_set() and self._is_current(frozen))
        except OSError as error:
            _log.warning("what is derived could not be kept (%s); opening takes longer, nothing is lost", error)
            return
        if folder is not None:
            _log.info("kept the graph up to delta %d in %s", frozen.stamp.sequence, folder)
            self._adopt(frozen, folder)
            self._kept.tidy(frozen.stamp.namespace)
