"""`Session`: one open graph of a memory, and the one way to change it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from itertools import chain
from typing import Any, Literal, TypeVar, cast

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import SupportsNamespaces
from neurogated.core.clock import checked_moment, to_micros
from neurogated.core.commit import Committer, Plan
from neurogated.core.conflicts import Conflict
from neurogated.core.contexts import forget_texts
from neurogated.core.delta import Access, GraphDelta
from neurogated.core.derivation import sources_of
from neurogated.core.energy import EnergyLaw
from neurogated.core.habits import Uncopied, explains_calls
from neurogated.core.ports import GraphStorePort
from neurogated.core.projections import remove_manifests
from neurogated.core.scope import ANY_USER, UserChoice
from neurogated.errors import ConfigError, InputError
from neurogated.ingestion.analysers import Analysis
from neurogated.ingestion.edge_builder import MAX_TERM_TEXTS
from neurogated.ingestion.writer import Writer
from neurogated.knowledge.backlog import Backlog, Enquiry
from neurogated.knowledge.checker import CLAIMS, ConflictChecker
from neurogated.knowledge.comparing import asked
from neurogated.knowledge.judging import PairEnquiry
from neurogated.knowledge.reading import ReadingEnquiry
from neurogated.manifest.caching import ManifestCache
from neurogated.manifest.creation import ManifestCreator, community_names
from neurogated.plasticity.plasticity_engine import PlasticityEngine
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.retrieval.neuro_retriever import NeuroRetriever
from neurogated.session.runtime import Event, Parts, Runtime
from neurogated.text.strings import checked_name
from neurogated.tiers.canvas import CanvasOwner

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Notice:
    """A change of a graph, or a recall."""

    event: Event | Literal["changed", "undone", "ticked"]
    """An event of `on`; or another change, an undo, or a tick, which no callback hears of."""
    about: tuple[Any, ...] = ()
    """The arguments of the callbacks."""
    owner: CanvasOwner | None = None
    """The user and session of a recall of the present; None for all users and for recalls of the past."""
    access: Callable[[], Access] | None = None
    """Returns the use of memories that the event is, by `user_id`."""
    user_id: UserChoice = None
    has_facts: bool = True
    """Whether there may be facts among the memories that were added."""


Subscriber = Callable[["Session", Notice], None]
"""Runs after a change or a recall, without the write lock."""


class Component:
    """The calls of one feature of a memory, each of which says how it is called if its arguments do not fit."""

    def __init__(self, session: Session) -> None:
        """Take the session."""
        self._session = session

    def __init_subclass__(cls) -> None:
        """Let the calls explain themselves."""
        explains_calls(cls)


class Session(Uncopied):
    """Holds the parts that the components of a memory share; `runtime` is that of all namespaces."""

    def __init__(
        self,
        config: MemoryConfig,
        parts: Parts,
        runtime: Runtime,
        subscribers: tuple[Subscriber, ...],
    ) -> None:
        """Wire up the parts. `subscribers` are notified in order."""
        self.config, self.parts, self.runtime = config, parts, runtime
        self.store, self.clock = parts.store, parts.clock
        if isinstance(self.store, SupportsNamespaces):
            self.store.compute_terms(MAX_TERM_TEXTS)
        self._subscribers = subscribers
        runtime.sessions[config.namespace] = self
        self.committer = Committer(self.store, runtime.is_frozen)
        self.retriever = NeuroRetriever(
            self.store,
            config,
            embedder=parts.embedder,
            kernel_source=parts.kernel_source,
            clock=parts.clock,
            formula=parts.formula,
            reranker=parts.reranker,
        )
        self.plasticity = PlasticityEngine(self.store, config, parts.clock, self.committer)
        analysis = Analysis(parts.causal_judge, parts.entity_finder, parts.encoder)
        check = self.checker([one.kind for one in self._enquiries]).checked
        self.writer = Writer(
            self.store, parts.embedder, analysis, config, parts.clock, check=check, committer=self.committer
        )
        model, settings = parts.language_model, config.manifest
        namer = None if model is None else partial(community_names, model, PromptTemplateManager())
        creator = ManifestCreator(self.store, EnergyLaw(config.metabolism), parts.graph_algorithms, namer)
        seconds = settings.cache_ttl_ms / 1000
        self.manifests = ManifestCache(
            self.store, creator, self.clock, threshold=settings.update_threshold, seconds=seconds
        )

    def checker(self, queues: Sequence[str] = ()) -> ConflictChecker:
        """Return the stage that compares facts; `queues` has the kinds of tasks for which new memories wait."""
        return ConflictChecker(self.store, queues=queues)

    @cached_property
    def _enquiries(self) -> Sequence[Enquiry[Any, Any]]:
        """The questions to models: what memories say, name and cause, and then which others they contradict."""
        parts, known_by, checker = self.parts, self.config.metabolism.known_by, self.checker()
        found = list[Enquiry[Any, Any]]()
        if parts.language_model is not None and "claims" in known_by:
            prompts = PromptTemplateManager()
            found.append(ReadingEnquiry(self.store, checker, parts.language_model, prompts, self._linked))
        if parts.text_judge is not None and "slots" in known_by:
            # What memories say tells which pairs are in conflict, and what a change ends.
            found.append(PairEnquiry(self.store, checker, parts.text_judge, CLAIMS if found else None))
        return found

    @cached_property
    def backlogs(self) -> Sequence[Backlog[Any, Any]]:
        """The queues of the memories that wait for a model; none if the memory is read-only."""
        if self.config.read_only:
            return ()
        return [Backlog(self.store, one, self.commit) for one in self._enquiries]

    def _linked(
        self, names: Mapping[str, tuple[str, ...]], causes: Sequence[tuple[str, str, str]], at: datetime
    ) -> GraphDelta:
        """Return the delta of names and causes that a model read; see `Writer.linked`."""
        strength = self.config.llm.strength
        return self.writer.linked(names, [(cause, effect, strength(label)) for cause, effect, label in causes], at)

    def exclusively(self) -> AbstractContextManager[object]:
        """Lock the graph for a block that reads it and then writes."""
        return self.committer.exclusively()

    def commit(
        self, plan: Plan, event: Callable[[GraphDelta], Notice] | None = None, *, learns: bool = False
    ) -> GraphDelta:
        """Write the delta that `plan` computes under the write lock, and then notify the subscribers; return it.

        Args:
            plan: computes the delta.
            event: the notice of the delta; without one, nobody is notified.
            learns: whether a frozen graph refuses the delta, because it comes from use.
        """
        delta = self.committer.commit(plan, learns=learns)
        if delta and event is not None:
            self.notify(event(delta))
        return delta

    def notify(self, notice: Notice) -> None:
        """Call the subscribers in order."""
        for subscriber in self._subscribers:
            subscriber(self, notice)

    def moment(self, now: datetime | None) -> datetime:
        """Return the time that counts as present."""
        return checked_moment("now", now, self.config.zone) or self.clock()

    def explained(self, conflicts: Iterable[Conflict], store: GraphStorePort | None = None) -> list[Conflict]:
        """Return those of the conflicts whose sides are in the graph, with their reasons and questions.

        Args:
            conflicts: as they are stored.
            store: the graph of another time, in whose words they are explained.
        """
        wanted, graph = list(conflicts), self.store if store is None else store
        ids = list(dict.fromkeys(side for one in wanted for side in one.sides))
        sources = sources_of(graph.view(), ids)
        told = dict.fromkeys(chain(ids, chain.from_iterable(sources.values())))
        nodes = {node.id: node for node in graph.get_nodes(list(told), missing_ok=True)}
        found = []
        for one in wanted:
            if nodes.keys() >= set(one.sides):
                names = chain.from_iterable(sources.get(side, ()) for side in one.sides)
                contents = [nodes[name].content for name in names if name in nodes]
                found.append(asked(one, nodes[one.first], nodes[one.second], contents))
        return found

    def several_graphs(self) -> SupportsNamespaces:
        """Return the store if it has namespaces; raises ConfigError."""
        if not isinstance(self.store, SupportsNamespaces):
            raise ConfigError(f"a {type(self.store).__name__} holds a single graph; use another storage for namespaces")
        return self.store

    def in_namespace(self, namespace: str) -> Session:
        """Return the session of another graph of the same memory."""
        store, runtime = self.several_graphs().in_namespace(namespace), self.runtime
        with runtime.opening:
            known: Session | None = runtime.sessions.get(namespace)
            if known is not None and known.store is store:
                return known
            config, parts = self.config.replace(namespace=namespace), replace(self.parts, store=store)
            return Session(config, parts, runtime, self._subscribers)

    def all_namespaces(self) -> Iterator[Session]:
        """Yield this session and those of all other namespaces."""
        yield self
        if isinstance(self.store, SupportsNamespaces):
            for name in self.store.namespaces():
                if name != self.config.namespace:
                    yield self.in_namespace(name)

    def close(self, *, owns_parts: bool) -> None:
        """Write the accesses of all namespaces; also close the parts if they belong to the caller."""
        if self.store.closed:
            return
        try:
            if owns_parts:
                self.runtime.stop_repeating()
            self.runtime.accesses.flush_if_possible()
        finally:
            if owns_parts:
                if self.parts.facts is not None:
                    self.parts.facts.close()
                self.store.close()
                for part in (self.parts.embedder, self.parts.canvas, self.parts.language_model):
                    if part is not None:
                        part.close()
                self.runtime.close()

    def of_user(self, user_id: T) -> T:
        """Return the user of a call, composed.

        Raises InputError if there is none, and the setting `require_user` asks for one; or it is no name.
        """
        if user_id is None and self.config.require_user:
            raise InputError(
                "this memory requires a user for each call; give user_id=…, which in Python may be ANY_USER to "
                "read all users"
            )
        is_choice = user_id is None or user_id is ANY_USER
        return user_id if is_choice else cast("T", checked_name("user_id", cast("str", user_id)))

    def clear_caches(self) -> None:
        """Empty the caches of values derived from texts."""
        for cache in self.parts.caches:
            cache.clear()
        self.manifests.clear()
        remove_manifests(self.config.save_dir)
        forget_texts()

    def now(self) -> int:
        """Return the time of the clock in microseconds."""
        return to_micros(self.clock())
