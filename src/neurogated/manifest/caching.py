"""`ManifestCache`: the manifests of the scopes that were asked for, rebuilt in the background.

`Router` finds the communities of a question. The text of a manifest has whole lines, the useful first, within a budget.
"""

import logging
import math
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field

import numpy as np

from neurogated.core.clock import Clock
from neurogated.core.filters import Filter
from neurogated.core.forking import bind_to_process
from neurogated.core.model import Vector
from neurogated.core.ports import GraphStorePort
from neurogated.core.scope import ScopeFilter
from neurogated.core.tokens import TokenCounter
from neurogated.core.view import GraphView
from neurogated.errors import NeurogatedError
from neurogated.manifest.creation import Created, ManifestCreator
from neurogated.manifest.model import Community, GraphManifest, KeyNode
from neurogated.manifest.structure import Structure
from neurogated.text.keywords import split_keywords

_NEAREST = 64
"""Memories that are asked for their community. If they name too few, the words decide the rest."""


class Router:
    """Ranks the communities of one manifest for questions."""

    def __init__(self, manifest: GraphManifest) -> None:
        self._communities = manifest.communities
        self._of_node = {name: one.number for one in manifest.communities for name in one.node_ids}
        self._words = [
            Counter(
                {
                    stem: 1 / (1 + place) ** 0.5
                    for place, word in enumerate(one.keywords)
                    for stem in split_keywords(word)
                }
            )
            for one in manifest.communities
        ]
        self._spread = Counter(stem for words in self._words for stem in words)

    def by_words(self, query: str, limit: int) -> tuple[Community, ...]:
        """Return the communities whose keywords have the rarest words of a question; then the most important."""
        stems = set(split_keywords(query))
        rarity = {stem: math.log1p(len(self._words) / self._spread[stem]) for stem in stems & self._spread.keys()}
        scores = [sum(rarity[stem] * words[stem] for stem in rarity.keys() & words.keys()) for words in self._words]
        best = sorted(range(len(scores)), key=lambda number: (-scores[number], number))
        return tuple(self._communities[number] for number in best[:limit])

    def by_vector(
        self, query: str, vector: Vector, store: GraphStorePort, view: GraphView, limit: int
    ) -> tuple[Community, ...]:
        """Return the communities of the memories that are nearest to a question, best first."""
        ((rows, _),) = store.snapshot(view).nearest([vector], _NEAREST)
        found = dict.fromkeys(self._of_node.get(view.ids[row], -1) for row in rows.tolist())
        numbers = [number for number in found if number >= 0]
        numbers += [one.number for one in self.by_words(query, len(self._communities)) if one.number not in found]
        return tuple(self._communities[number] for number in numbers[:limit])


MOST_CHARACTERS = 2_048
"""Clients of MCP cut descriptions here."""
_KEYWORDS = 8
_COMMUNITIES, _KEY_NODES, _BRIDGES, _USED = 12, 5, 3, 3


def text_of(manifest: GraphManifest, budget: int, count: TokenCounter) -> str:
    """Return the lines that fit into `budget` tokens and 2,048 characters.

    Lines of less worth are left out first: those later in their section, and sections behind the communities.
    """
    lines = list(_lines(manifest))
    sizes = count([f"{line}\n" for _, line in lines])
    tokens, characters, kept = budget, MOST_CHARACTERS, set()
    for place in sorted(range(len(lines)), key=lambda place: lines[place][0]):
        size, length = sizes[place], len(lines[place][1]) + 1
        if size <= tokens and length <= characters:
            kept.add(place)
            tokens, characters = tokens - size, characters - length
    return "\n".join(line for place, (_, line) in enumerate(lines) if place in kept)


def _lines(manifest: GraphManifest) -> Iterator[tuple[int, str]]:
    """Yield the lines in their order, each with its rank; the lowest is worth most."""
    head = f"Memory: {manifest.nodes:,} memories, energy {manifest.total_energy:.1f} of {manifest.nodes:,}"
    yield 0, f"{head}; {manifest.edges:,} edges, average degree {manifest.average_degree:.1f}"
    if not manifest.nodes:
        return
    for place, one in enumerate(manifest.communities[:_COMMUNITIES]):
        yield 1 + place, f"- {', '.join(one.keywords[:_KEYWORDS])}: {one.size:,} memories"
    yield 4, f"By age and use: {', '.join(f'{count:,} {name}' for name, count in manifest.temporal.counts.items())}"
    for place, node in enumerate(manifest.key_nodes[:_KEY_NODES]):
        yield 2 + 2 * place, f"Key: {_quoted(node)}"
    shape = manifest.topology
    clustering = "" if shape.clustering is None else f", clustering {shape.clustering:.2f}"
    yield 8, f"Topology: density {shape.density:.3f}{clustering}"
    names = [one.name for one in manifest.communities]
    for place, bridge in enumerate(manifest.bridges[:_BRIDGES]):
        yield 9 + place, f"Bridge: {names[bridge.first]} ↔ {names[bridge.second]}"
    for place, node in enumerate(manifest.most_used[:_USED]):
        yield 7 + 2 * place, f"Most used: {_quoted(node)}"


def _quoted(node: KeyNode) -> str:
    return f"“{node.content.translate(dict.fromkeys(map(ord, '“”')))}”"


_MOST_SCOPES = 64

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Entry:
    """The manifest of one scope."""

    created: Created
    created_at: float
    shown: GraphManifest
    """The manifest of the text; it may be older."""
    router: Router
    checked: int
    """The number of the last change that was looked through for changed texts."""
    counted: int
    """Rows of the graph when the memories of the scope were last counted."""
    grown: int = 0
    """New memories then, against the text."""
    texts: dict[int, str] = field(default_factory=dict)
    """By budget."""
    running: bool = False


def _attempt(work: Callable[..., None], *given: object) -> None:
    """Do work in the background, and log its failure."""
    try:
        work(*given)
    except NeurogatedError as error:
        _log.warning("a manifest is not rebuilt: %s", error)


class ManifestCache:
    """Keeps manifests by scope.

    A manifest is rebuilt after `threshold` new memories of its scope, or after `seconds` if anything has changed. Its
    text changes only after `threshold` new memories, or with the first one. When one of its memories is deleted or
    rewritten, the next call rebuilds both. Changes by other processes count.
    """

    def __init__(
        self, store: GraphStorePort, creator: ManifestCreator, clock: Clock, *, threshold: int, seconds: float
    ) -> None:
        self._store, self._creator, self._clock = store, creator, clock
        self._threshold, self._seconds = threshold, seconds
        self._entries = OrderedDict[Filter, _Entry]()
        self._structures = dict[Filter, Structure]()
        """Of scopes whose texts must be read again; without any text."""
        self._callbacks: list[Callable[[ScopeFilter], None]] = []
        self._lock = threading.Lock()
        bind_to_process(self)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - empty either way
        """Forget all in a forked child, where the threads of the parent do not run."""
        self._lock = threading.Lock()
        self._entries.clear()
        self._structures.clear()

    def clear(self) -> None:
        """Forget all manifests."""
        with self._lock:
            entries, self._entries = self._entries, OrderedDict()
            self._structures.clear()
        for wanted in entries:
            self._notify(wanted)

    def forget(self, node_ids: Iterable[str]) -> None:
        """Forget the manifests that may have words of memories whose text has changed or is gone."""
        rows_by_id = self._store.view().rows_by_id
        rows = [rows_by_id[one] for one in node_ids if one in rows_by_id]
        with self._lock:
            outdated = [
                key for key, entry in self._entries.items() if np.isin(rows, entry.created.structure.rows).any()
            ]
            for wanted in outdated:
                self._structures[wanted] = self._entries.pop(wanted).created.structure
        for wanted in outdated:
            self._notify(wanted)

    def register(self, callback: Callable[[ScopeFilter], None]) -> Callable[[], None]:
        """Call `callback` with a scope when its text has changed; return a function that unregisters it."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback) if callback in self._callbacks else None

    def get(self, wanted: Filter, threads: Executor) -> GraphManifest:
        """Return the manifest of the memories that a filter admits; the cached one while it is rebuilt."""
        return self._entry(wanted, threads).created.manifest

    def text(self, wanted: Filter, threads: Executor, budget: int, count: TokenCounter) -> str:
        """Return the text of the memories that a filter admits, within a budget of tokens."""
        entry = self._entry(wanted, threads)
        if budget not in entry.texts:
            entry.texts[budget] = text_of(entry.shown, budget, count)
        return entry.texts[budget]

    def router(self, wanted: Filter, threads: Executor) -> Router:
        """Return the router of the manifest."""
        return self._entry(wanted, threads).router

    def refresh(self, threads: Executor) -> None:
        """Rebuild those manifests, in the background, whose scopes have enough new memories."""
        with self._lock:
            entries = list(self._entries.items())
        view = self._store.view() if entries else None
        for wanted, entry in entries:
            if view is not None and self._is_due(wanted, entry, view):
                self._start(wanted, entry, threads)

    def _entry(self, wanted: Filter, threads: Executor) -> _Entry:
        with self._lock:
            entry = self._entries.get(wanted)
            if entry is not None:
                self._entries.move_to_end(wanted)
        view = self._store.view()
        if entry is not None and not self._is_valid(entry, view):
            with self._lock:
                # The cache may have been emptied meanwhile.
                if self._entries.get(wanted) is entry:
                    self._structures[wanted] = self._entries.pop(wanted).created.structure
            entry = None
        if entry is None:
            entry = self._create(wanted, None)
            if self._creator.namer is not None:
                threads.submit(_attempt, self._name, entry)
            return entry
        changed = entry.created.sequence != view.sequence
        expired = changed and time.monotonic() - entry.created_at >= self._seconds
        if expired or self._is_due(wanted, entry, view):
            self._start(wanted, entry, threads)
        return entry

    def _is_valid(self, entry: _Entry, view: GraphView) -> bool:
        """Return whether no memory of the manifest was rewritten or deleted, or has expired."""
        rows = entry.created.structure.rows
        if entry.created.structure.ids is not view.ids or not view.alive.take(rows).all():
            return False
        if entry.checked != view.sequence:
            entry.checked, begin = view.sequence, entry.checked
            written = {node.id for one in self._store.journal(begin) for node in one.delta.nodes}
            return not np.isin(view.known_rows(written), rows).any()
        return True

    def _is_due(self, wanted: Filter, entry: _Entry, view: GraphView) -> bool:
        """Return whether so many memories of the scope are new that the text should change.

        They are counted when the whole graph has grown so much.
        """
        enough = self._threshold if entry.shown.nodes else 1
        if entry.grown + view.node_count - entry.counted < enough:
            return False
        seen = self._store.view(filters=wanted)
        entry.grown, entry.counted = seen.admitted_nodes().size - entry.shown.nodes, seen.node_count
        return entry.grown >= enough

    def _start(self, wanted: Filter, entry: _Entry, threads: Executor) -> None:
        with self._lock:
            if entry.running:
                return
            entry.running = True

        def create() -> None:
            try:
                self._name(self._create(wanted, entry))
            finally:
                # The next call tries again if this one has failed.
                entry.running = False

        threads.submit(_attempt, create)

    def _name(self, entry: _Entry) -> None:
        """Name communities by the language model; the text has these names when it changes next."""
        entry.created = self._creator.with_titles(entry.created)

    def _create(self, wanted: Filter, old: _Entry | None) -> _Entry:
        view = self._store.view(filters=wanted)
        with self._lock:
            start = self._structures.pop(wanted, None)
        created = self._creator.create(view, self._clock(), None if old is None else old.created, start)
        manifest = created.manifest
        entry = _Entry(created, time.monotonic(), manifest, Router(manifest), view.sequence, view.node_count)
        if old is not None and manifest.nodes - old.shown.nodes < (self._threshold if old.shown.nodes else 1):
            entry.shown, entry.texts, entry.grown = old.shown, old.texts, manifest.nodes - old.shown.nodes
        with self._lock:
            # A deletion may have emptied the cache meanwhile.
            if old is None or self._entries.get(wanted) is old:
                self._entries[wanted] = entry
                if len(self._entries) > _MOST_SCOPES:
                    self._structures.pop(self._entries.popitem(last=False)[0], None)
        if old is not None and entry.shown is not old.shown:
            self._notify(wanted)
        return entry

    def _notify(self, wanted: Filter) -> None:
        """Call the callbacks with a scope whose text has changed."""
        if wanted.scope is not None:
            for callback in tuple(self._callbacks):
                callback(wanted.scope)
