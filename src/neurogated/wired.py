"""`Wired`: the parts of a memory, and the work after each write."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Self

import numpy as np

from neurogated.compose import Parts
from neurogated.config.memory_config import MemoryConfig
from neurogated.conflict.questions import asked
from neurogated.core.abilities import SupportsNamespaces
from neurogated.core.clock import Moment, checked_moment, checked_version, to_micros
from neurogated.core.conflicts import Conflict
from neurogated.core.facts import FACT
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.scope import AnyUser
from neurogated.core.text_caches import forget_texts
from neurogated.core.trace import Recall
from neurogated.core.view import GraphView
from neurogated.ingestion.writer import Writer
from neurogated.plasticity.plasticity_engine import PlasticityEngine
from neurogated.retrieval.neuro_retriever import NeuroRetriever, RecallOptions
from neurogated.runtime import Event, Runtime
from neurogated.tiers.canvas import Owner

__all__ = ["Wired"]


class Wired(ABC):
    """Base of the classes that make up `NeuroGraphMemory`.

    Attributes:
        store: the graph.
        config: the settings.
        retriever: recalls without counting accesses.
        plasticity: learns from accesses and feedback.
    """

    config: MemoryConfig
    store: GraphStorePort
    retriever: NeuroRetriever
    plasticity: PlasticityEngine
    _writer: Writer
    _parts: Parts
    _runtime: Runtime
    _owns_parts: bool

    @abstractmethod
    def in_namespace(self, namespace: str) -> Self:
        """Return another graph of the same memory."""

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - the parts are told separately
        """Leave the parts to the parent process, in a forked child."""
        self._owns_parts = False

    def _graphs(self) -> Iterator[Self]:
        """Yield this memory and those of all its other namespaces."""
        yield self
        if isinstance(self.store, SupportsNamespaces):
            for name in self.store.namespaces():
                if name != self.config.namespace:
                    yield self.in_namespace(name)

    @abstractmethod
    def _judge_conflicts(self, calls: int | None, *, patient: bool = True) -> int:
        """Ask the language model about the memories that wait, by at most `calls` calls; return how many it settled."""

    def _moment(self, now: datetime | None) -> datetime:
        """Return the time that counts as present."""
        return checked_moment("now", now) or self._parts.clock()

    def _clear_caches(self) -> None:
        """Empty the caches of values derived from texts."""
        for cache in self._parts.caches:
            cache.clear()
        forget_texts()

    def _enter(self, owner: Owner, relevance: Mapping[str, float], view: GraphView) -> None:
        now = to_micros(self._parts.clock())
        self._parts.canvas.enter(view, self.config.namespace, owner, relevance, now)
        if self._parts.canvas.place is not None:
            # Another process may have erased memories and emptied the server since the view was taken.
            present = self.store.view()
            if gone := relevance.keys() - {present.ids[row] for row in present.known_rows(relevance).tolist()}:
                self._parts.canvas.remove(self.config.namespace, gone)

    def _asked(self, store: GraphStorePort, conflicts: Iterable[Conflict]) -> list[Conflict]:
        """Return those of the conflicts whose sides are there, with their reasons and questions."""
        wanted = list(conflicts)
        ids = dict.fromkeys(side for one in wanted for side in one.sides)
        nodes: dict[str, MemoryNode] = {node.id: node for node in store.get_nodes(list(ids), missing_ok=True)}
        there = [one for one in wanted if nodes.keys() >= set(one.sides)]
        return [asked(one, nodes[one.first], nodes[one.second], self._parts.statement_judge) for one in there]

    def _with_questions(self, recall: Recall, as_of: int | Moment | None) -> Recall:
        """Return a recall whose conflicts have their reasons and questions, in the words of that time."""
        if not recall.conflicts:
            return recall
        then = checked_version(as_of)
        store = self.store if then is None else self.store.as_of(then)
        return replace(recall, conflicts=tuple(self._asked(store, recall.conflicts)))

    def _recalled(self, recall: Recall, options: RecallOptions) -> None:
        """Put memories and active neighbours on the canvas, call the callbacks, and count the accesses.

        Recalls from the past leave the canvas and the accesses as they are.
        """
        user_id = options.get("user_id")
        is_present = options.get("as_of") is None and options.get("valid_at") is None
        if is_present and recall and not isinstance(user_id, AnyUser):
            best = max(memory.score for memory in recall)
            scores = {**recall.lit, **{memory.id: memory.score for memory in recall}}
            relevance = {name: min(1.0, score / best) for name, score in scores.items() if best > 0.0 < score}
            self._enter(Owner(user_id, options.get("session_id")), relevance, self.store.view())
            self._runtime.handed_out.add(self.config.namespace, user_id, recall.ids, self._parts.clock())
        self._runtime.tell("recalled", recall)
        if is_present and not (self.config.read_only or self._runtime.is_frozen()):
            self._runtime.accesses.add(self.store, recall.access, user_id)

    def _told(self, event: Event, *about: Any) -> None:  # noqa: ANN401 - each event has its own arguments
        """Let the projections follow a write, and call the callbacks of its event."""
        namespace, has_facts = self.config.namespace, False
        if event == "added":
            view = self.store.view()
            kinds = np.unique(view.kind.take(view.known_rows(about[0])))
            has_facts = FACT in [view.kinds[kind] for kind in kinds.tolist()]
            self._put_on_canvas(view, about[0][-self.config.metabolism.canvas_size :])
        elif event == "deleted":
            self._parts.canvas.remove(namespace, about[0])
        if event != "added" or has_facts:
            self._runtime.follow(self.store, namespace, erasing=event == "deleted")
        self._runtime.tell(event, *about)

    def _put_on_canvas(self, view: GraphView, ids: Sequence[str]) -> None:
        """Put added memories on the canvases of their sessions."""
        added = defaultdict[Owner, dict[str, float]](dict)
        for row in view.known_rows(ids).tolist():
            scope = view.scope_of(row)
            added[Owner(scope.user_id, scope.session_id)][view.ids[row]] = 1.0
        for owner, relevance in added.items():
            self._enter(owner, relevance, view)
