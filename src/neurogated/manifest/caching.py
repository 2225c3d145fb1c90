"""`ManifestCache`: the manifests of the scopes that were asked for, made anew in the background."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, field

import numpy as np

from neurogated.core.clock import Clock
from neurogated.core.filters import Filter
from neurogated.core.forking import bind_to_process
from neurogated.core.ports import GraphStorePort
from neurogated.core.quoting import TokenCounter
from neurogated.core.scope import ScopeFilter
from neurogated.core.view import GraphView
from neurogated.errors import NeurogatedError
from neurogated.manifest.making import Made, ManifestMaker
from neurogated.manifest.model import GraphManifest
from neurogated.manifest.routing import Router
from neurogated.manifest.text import text_of

_MOST_SCOPES = 64
_SMALL = 4
"""The text of a small memory changes when it has grown by a fourth, before the threshold is reached."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Entry:
    """The manifest of one scope."""

    made: Made
    made_at: float
    told: GraphManifest
    """The manifest of which the text tells."""
    router: Router
    texts: dict[int, str] = field(default_factory=dict)
    """By budget."""
    running: bool = False


class ManifestCache:
    """Keeps manifests by scope.

    A manifest is made anew after `threshold` new memories of its scope, or after `seconds` if anything has changed. Its
    text changes only after `threshold` new memories, or a fourth more. When one of its memories is deleted or changed,
    the next call makes both anew.
    """

    def __init__(
        self, store: GraphStorePort, maker: ManifestMaker, clock: Clock, *, threshold: int, seconds: float
    ) -> None:
        self._store, self._maker, self._clock = store, maker, clock
        self._threshold, self._seconds = threshold, seconds
        self._entries = OrderedDict[Filter, _Entry]()
        self._callbacks: list[Callable[[ScopeFilter], None]] = []
        self._lock = threading.Lock()
        bind_to_process(self)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - empty either way
        """Forget all in a forked child, where the threads of the parent do not run."""
        self._lock = threading.Lock()
        self._entries.clear()

    def clear(self) -> None:
        """Forget all manifests."""
        with self._lock:
            self._entries.clear()

    def forget(self, node_ids: Iterable[str]) -> None:
        """Forget the manifests that may tell of memories whose text has changed or is gone."""
        rows_by_id = self._store.view().rows_by_id
        rows = [rows_by_id[one] for one in node_ids if one in rows_by_id]
        with self._lock:
            for wanted, entry in list(self._entries.items()):
                if np.isin(rows, entry.made.rows).any():
                    del self._entries[wanted]

    def register(self, callback: Callable[[ScopeFilter], None]) -> Callable[[], None]:
        """Call `callback` with a scope when its text has changed; return a function that unregisters it."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback) if callback in self._callbacks else None

    def get(self, wanted: Filter, threads: Executor) -> GraphManifest:
        """Return the manifest of the memories that a filter admits; a cached one while a new one is made."""
        return self._entry(wanted, threads).made.manifest

    def text(self, wanted: Filter, threads: Executor, budget: int, count: TokenCounter) -> str:
        """Return the text of the memories that a filter admits, within a budget of tokens."""
        entry = self._entry(wanted, threads)
        if budget not in entry.texts:
            entry.texts[budget] = text_of(entry.told, budget, count)
        return entry.texts[budget]

    def router(self, wanted: Filter, threads: Executor) -> Router:
        """Return the router of the manifest."""
        return self._entry(wanted, threads).router

    def refresh(self, threads: Executor) -> None:
        """Make those manifests anew, in the background, after which enough has changed."""
        with self._lock:
            entries = list(self._entries.items())
        for wanted, entry in entries:
            if self._is_due(entry, self._store.view(filters=wanted)):
                self._start(wanted, entry, threads)

    def _entry(self, wanted: Filter, threads: Executor) -> _Entry:
        with self._lock:
            entry = self._entries.get(wanted)
            if entry is not None:
                self._entries.move_to_end(wanted)
        view = self._store.view(filters=wanted)
        if entry is None or not self._stands(entry, view):
            return self._make(wanted, None)
        changed = entry.made.manifest.sequence != view.sequence
        if self._is_due(entry, view) or (changed and time.monotonic() - entry.made_at >= self._seconds):
            self._start(wanted, entry, threads)
        return entry

    @staticmethod
    def _stands(entry: _Entry, view: GraphView) -> bool:
        """Return whether no memory of the manifest was deleted or has expired."""
        if entry.made.ids is not view.ids:
            return False
        return bool(view.alive.take(entry.made.rows).all())

    def _is_due(self, entry: _Entry, view: GraphView) -> bool:
        """Return whether so many memories of the scope are new that the text should tell of them."""
        nodes = entry.told.nodes
        return view.admitted_nodes().size - nodes >= min(self._threshold, 1 + nodes // _SMALL)

    def _start(self, wanted: Filter, entry: _Entry, threads: Executor) -> None:
        with self._lock:
            if entry.running:
                return
            entry.running = True
        threads.submit(self._make_in_background, wanted, entry)

    def _make_in_background(self, wanted: Filter, entry: _Entry) -> None:
        try:
            self._make(wanted, entry)
        except NeurogatedError as error:
            entry.running = False
            _log.warning("the manifest is not made anew: %s", error)

    def _make(self, wanted: Filter, old: _Entry | None) -> _Entry:
        view = self._store.view(filters=wanted)
        made = self._maker.make(view, self._clock(), None if old is None else old.made)
        entry = _Entry(made, time.monotonic(), made.manifest, Router(made.manifest))
        if old is not None and not self._is_due(old, view):
            entry.told, entry.texts = old.told, old.texts
        with self._lock:
            # A deletion may have emptied the cache meanwhile.
            if old is None or self._entries.get(wanted) is old:
                self._entries[wanted] = entry
                if len(self._entries) > _MOST_SCOPES:
                    self._entries.popitem(last=False)
        if old is not None and entry.told is not old.told and wanted.scope is not None:
            for callback in tuple(self._callbacks):
                callback(wanted.scope)
        return entry
