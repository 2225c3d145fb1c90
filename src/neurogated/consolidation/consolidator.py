"""Profiles of what is known, and one node of each cluster of memories that are used together."""

import json
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, islice, takewhile
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from neurogated.config.groups import MetabolismSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import to_micros
from neurogated.core.commit import Plan
from neurogated.core.communities import Communities, CommunityFinder, CommunityLinks
from neurogated.core.conflicts import given_times, undisputed
from neurogated.core.delta import GraphDelta, NodeChange, Owner
from neurogated.core.derivation import are_original, claims_of, common_metadata, same_source, source_rows, sources_of
from neurogated.core.edge_type import EdgeType
from neurogated.core.energy import EnergyLaw
from neurogated.core.facts import FACTS, USER, Change, value_of
from neurogated.core.found import Found, Statement
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.node_kind import FACT, PROFILE, SEGMENT
from neurogated.core.ports import Embedder, GraphStorePort, LanguageModel
from neurogated.core.quoting import day_of
from neurogated.core.rendering import search_text
from neurogated.core.same_as import are_echoes
from neurogated.core.scope import Scope, UserChoice
from neurogated.core.view import GraphView, Rows
from neurogated.errors import LLMError
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.text.keywords import fold, split_keywords, split_words
from neurogated.text.times import Zone
from neurogated.utils.hash_utils import compute_mdhash_id

_KNOWN_SHARE = 0.5

_LINKS = {
    EdgeType.ASSOC: 2.0,
    EdgeType.CAUSE: 1.0,
    EdgeType.SEQ: 0.5,
    EdgeType.SIM: 0.5,
    EdgeType.TERM: 0.5,
    EdgeType.MENTION: 0.5,
}
"""Weights of the edge types that link the memories of a cluster."""
LEAST = 3
"""Least memories of a cluster, and least facts of a profile. Two say little more together than each alone."""
_MOST = 8
"""Most memories of a cluster; larger ones are divided."""

# Least mean weight of the links of a cluster; more gives smaller clusters.
_RESOLUTION = 0.1

_MADE = frozenset({"fact", "conflict", "claim", "segment", "profile", "policy"})
"""Kinds of memories that say something about others; they enter no cluster."""


def is_known(rows: Rows, sources: Rows) -> bool:
    """Return whether so many of a cluster's nodes are `sources` of facts that it becomes no further one."""
    return bool(np.count_nonzero(np.isin(rows, sources)) >= _KNOWN_SHARE * rows.size)


@dataclass(frozen=True, slots=True)
class ClusterFinder:
    """Finds clusters.

    A link between two memories is the weighted sum of their edges, multiplied by n / (n + N). n is the number of uses
    of the memory that was used less, and N the setting `consolidation_uses`. So a cluster needs uses and edges.
    """

    finder: CommunityFinder
    settings: MetabolismSettings

    def find(self, view: GraphView) -> list[Rows]:
        """Return the clusters without facts, the most used first; no two share a node."""
        found, sources, uses = self.finder.find(self._links(view), _RESOLUTION), source_rows(view), view.uses.all()
        clusters = [rows for rows in self._of_right_size(found) if not is_known(rows, sources)]
        return sorted(clusters, key=lambda rows: (-float(uses[rows].mean()), view.ids[int(rows[0])]))

    def _links(self, view: GraphView) -> CommunityLinks:
        count = view.edge_count
        of_type = np.array([_LINKS.get(kind, 0.0) for kind in view.edge_types])
        weight = np.nan_to_num(view.weight.all()[:count]) * of_type[view.edge_type[:count]]
        source, target, computed = view.computed_edges()
        links = CommunityLinks(
            np.concatenate((view.edge_source[:count], source.astype(np.int32))),
            np.concatenate((view.edge_target[:count], target.astype(np.int32))),
            np.concatenate((weight, computed * _LINKS[EdgeType.TERM])),
            view.owners(),
        )
        uses, least = view.uses.all()[: view.node_count].astype(np.float64), self.settings.consolidation_uses
        made = [view.kinds.index(kind) for kind in _MADE if kind in view.kinds]
        fit = (uses >= least) & view.alive.all()[: view.node_count] & are_original(view)
        fit &= ~np.isin(view.kind.all()[: view.node_count], made)
        used = np.flatnonzero(fit)
        fit[used[are_echoes(view, used, view.alive.take)]] = False
        both = np.minimum(uses[links.source], uses[links.target])
        weight = links.weight * both / np.maximum(both + least, 1.0)
        return links._replace(weight=weight).among(np.flatnonzero(fit))

    def _of_right_size(self, found: Communities) -> Iterator[Rows]:
        """Yield clusters of the right size from communities; a higher resolution divides the large ones."""
        parts, resolution = found.members(), _RESOLUTION
        while parts:
            yield from (rows for rows in parts if LEAST <= rows.size <= _MOST)
            large = [rows for rows in parts if rows.size > _MOST]
            # A resolution above the heaviest link leaves no community of two nodes, so this ends.
            resolution *= 2
            parts = self.finder.find(found.links.among(np.concatenate(large)), resolution).members() if large else []


T = TypeVar("T")

_TITLE_WORDS = 4


def cluster_id(sources: Iterable[MemoryNode]) -> str:
    """Return the id of the node of these sources. It depends on their ids only, not on their order."""
    names = "\n".join(sorted(node.id for node in sources))
    return compute_mdhash_id(names, prefix="cluster-")


def quoted(sources: Sequence[MemoryNode], zone: Zone) -> str:
    """Return the texts of sources, each after its speaker and day, so that "I" and "yesterday" keep their meaning."""
    lines = []
    for node in sources:
        day = None if node.timestamp is None else day_of(node.timestamp, zone)
        label = ", ".join(filter(None, (node.speaker or node.role, day)))
        lines.append(f"{label}: {node.content}" if label else node.content)
    return "\n".join(dict.fromkeys(lines))


def title_of(sources: Sequence[MemoryNode], zone: Zone) -> str:
    """Return the words that most sources share, in the order of the texts, with the first and the last day."""
    words: dict[str, str] = {}
    count = Counter[str]()
    for node in sources:
        own = {key: word for word in split_words(node.content) for key in split_keywords(word)}
        count.update(own.keys())
        words = {**own, **words}
    shared = [key for key, number in count.most_common() if number > 1 and not any(map(str.isdigit, key))]
    kept = set(shared[:_TITLE_WORDS] or words)
    title = " ".join(word for key, word in words.items() if key in kept)
    days = [node.timestamp for node in sources if node.timestamp is not None]
    if not days:
        return title
    return f"{title} ({' – '.join(dict.fromkeys((day_of(min(days), zone), day_of(max(days), zone))))})"


def cluster_node(
    sources: Sequence[MemoryNode], text: str, at: datetime, energy: float, *, is_summary: bool
) -> MemoryNode:
    """Return the node of a cluster, without a vector, with what its sources agree in; a summary or a title."""
    ends = [node.expires_at for node in sources if node.expires_at is not None]
    first = sources[0]
    scopes = [node.scope for node in sources]
    user, agent, session = (
        _common(getattr(one, name) for one in scopes) for name in ("user_id", "agent_id", "session_id")
    )
    levels = zip(*(one.path for one in scopes), strict=False)
    path = [level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels)]
    return MemoryNode(
        cluster_id(sources),
        text,
        base_energy=energy,
        energy_at=at,
        last_accessed=at,
        created_at=at,
        importance=max(node.importance for node in sources) if is_summary else 0.0,
        kind=FACT if is_summary else SEGMENT,
        scope=Scope(user, agent, session, path),
        metadata=common_metadata(sources),
        valid_from=first.valid_from,
        valid_to=first.valid_to,
        expires_at=min(ends, default=None),
        timestamp=_common(node.timestamp for node in sources),
        speaker=_common(node.speaker for node in sources),
        title=_common(node.title for node in sources),
        tags=sorted(set(first.tags).intersection(*(node.tags for node in sources))),
    )


def _common(values: Iterable[T | None]) -> T | None:
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


_CLAUSES = 12
"""Attributes of one profile. More of them would not fit into a small context; they make another profile."""


class Known(NamedTuple):
    """What is known of some attributes of one person or thing, of one owner."""

    subject: str
    number: int
    """The number of the profile among those of the subject, from 0."""
    facts: Sequence[MemoryNode]
    """Those that hold, by attribute."""
    former: Sequence[MemoryNode]
    """Those of the same attributes that others have replaced, the latest first."""

    @property
    def scope(self) -> Scope:
        """The owner."""
        return self.facts[0].scope

    @property
    def id(self) -> str:
        """The id of the profile; it depends on the owner, the subject and the number."""
        parts = [*self.scope.owner, *self.scope.path, fold(self.subject), self.number]
        return compute_mdhash_id(json.dumps(parts, ensure_ascii=False), prefix=f"{PROFILE}-")

    def clauses(self, zone: Zone) -> list[str]:
        """Return one for each attribute, such as `employer Physio Plus (since 1 October 2026, before Saint Anne)`."""
        return [_clause(name, nodes, self.former, zone) for name, nodes in _by_attribute(self.facts).items()]

    def text(self, zone: Zone) -> str:
        """Return the clauses in one line, after the subject."""
        return f"{'The user' if self.subject == USER else self.subject}: {'; '.join(self.clauses(zone))}"


def known_subjects(store: GraphStorePort, view: GraphView, at: datetime, least: int) -> Iterator[Known]:
    """Yield what is known at a time of each person or thing with at least `least` facts that nothing disputes."""
    codes = [code for code, kind in enumerate(view.kinds) if kind in FACTS]
    rows = view.live_nodes()
    rows = rows[np.isin(view.kind.take(rows), codes)]
    found = store.get_nodes(view.names(rows), missing_ok=True)
    nodes = [one for one in found if one.found.statement is not None]
    holding = {one.id for one in undisputed(store, view, nodes, at)}
    groups = defaultdict[tuple[object, ...], list[MemoryNode]](list)
    for node in nodes:
        groups[*node.scope.owner, node.scope.path, fold(_parts(node).subject)].append(node)
    for group in groups.values():
        facts = [
            one
            for one in group
            if one.id in holding
            and (one.valid_from or at) <= at
            and (one.valid_to is None or one.valid_to > at)
            and one.metadata.get("change") != Change.ENDS.value
        ]
        if len(facts) >= least:
            yield from _divided(facts, group)


def profile_of(known: Known, text: str, at: datetime) -> MemoryNode:
    """Return the node of a profile, without a vector."""
    ends = [node.expires_at for node in known.facts if node.expires_at is not None]
    return MemoryNode(
        known.id,
        text,
        kind=PROFILE,
        scope=known.scope,
        created_at=at,
        last_accessed=at,
        energy_at=at,
        importance=max(node.importance for node in known.facts),
        timestamp=max((node.timestamp for node in known.facts if node.timestamp), default=None),
        expires_at=min(ends, default=None),
        found=Found(names=() if known.subject == USER else (known.subject,)),
    )


def _divided(facts: Sequence[MemoryNode], group: Sequence[MemoryNode]) -> Iterator[Known]:
    attributes = _by_attribute(sorted(facts, key=lambda one: (one.moment, one.id)))
    # What a conflict calls wrong was never true.
    ended = (one for one in group if one.valid_to != given_times(one)[1] and one.valid_to != one.valid_from)
    over = sorted((one for one in ended if one not in facts), key=lambda one: one.moment, reverse=True)
    every = list(attributes)
    for number, begin in enumerate(range(0, len(every), _CLAUSES)):
        names = every[begin : begin + _CLAUSES]
        former = [one for one in over if _parts(one).attribute in names]
        yield Known(_parts(facts[0]).subject, number, [one for name in names for one in attributes[name]], former)


def _by_attribute(nodes: Sequence[MemoryNode]) -> dict[str, list[MemoryNode]]:
    found = defaultdict[str, list[MemoryNode]](list)
    for node in nodes:
        found[_parts(node).attribute].append(node)
    return found


def _clause(attribute: str, nodes: Sequence[MemoryNode], former: Sequence[MemoryNode], zone: Zone) -> str:
    values = ", ".join(dict.fromkeys(value_of(_parts(node)) for node in nodes))
    begin = nodes[0].valid_from if len(nodes) == 1 else None
    before = list(dict.fromkeys(value_of(_parts(node)) for node in former if _parts(node).attribute == attribute))
    about = [] if begin is None else [f"since {day_of(begin, zone)}"]
    about += [f"before {', '.join(before)}"] if before else []
    said = f"{attribute.replace('_', ' ')} {values}"
    return f"{said} ({', '.join(about)})" if about else said


def _parts(node: MemoryNode) -> Statement:
    if node.found.statement is None:
        raise ValueError(f"node {node.id!r} is no fact with known parts")
    return node.found.statement


_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Summariser:
    """Asks a language model to merge memories into one text."""

    model: LanguageModel
    prompts: PromptTemplateManager

    def summary(self, memories: str) -> str:
        """Return the model's text of memories, a line each; empty if it failed, is too long, or has new numbers."""
        messages = self.prompts.render("consolidation", memories=memories)
        try:
            answer = self.model.infer_json(messages, self.prompts.schema("consolidation"))
        except LLMError as error:
            _log.warning("the language model merged no memories: %s", error)
            return ""
        text = str(answer["fact"]).strip()
        numbers = ({word for word in split_keywords(one) if any(map(str.isdigit, word))} for one in (text, memories))
        if invented := set.difference(*numbers):
            fault = f"no memory has {', '.join(sorted(invented))}"
        elif len(text) > len(memories):
            fault = "it is longer than the memories together"
        elif "\0" in text:
            fault = "it has a NUL character"
        else:
            return text
        _log.warning("the language model's text was not used: %s", fault)
        return ""


MAX_CALLS = 32
"""Most calls of the language model for the texts of one consolidation, and as many for claims and for conflicts."""
_FADE = 0.5  # of the energy of a memory of which a language model has made a fact


class PreparedTexts(NamedTuple):
    """A profile, or the node of a cluster, that is not stored yet, and the versions of its sources."""

    node: MemoryNode
    sources: Sequence[MemoryNode]

    @property
    def is_profile(self) -> bool:
        """Whether its sources are facts; else they are memories."""
        return self.node.kind == PROFILE


class Consolidator:
    """Prepares nodes and stores them in one delta.

    Models run without a lock. The commit holds the write lock; it skips each node whose sources have changed since, and
    each that another thread or process has stored meanwhile.
    """

    def __init__(
        self,
        store: GraphStorePort,
        embedder: Embedder,
        finder: CommunityFinder,
        config: MemoryConfig,
        summariser: Summariser | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._config, self._zone = config.metabolism, config.zone
        self._law = EnergyLaw(config.metabolism)
        self._clusters = ClusterFinder(finder, config.metabolism)
        self._summariser = summariser
        self._calls = 0

    def prepare(self, at: datetime, user_id: UserChoice = None, most: int | None = None) -> Iterator[PreparedTexts]:
        """Yield profiles, and then the nodes of clusters, the most used first; at most so many, of a named user."""
        self._calls = MAX_CALLS
        view = self._store.view()
        made = chain(self._profiles(view, at), self._of_clusters(view, at))
        own = (one for one in made if not isinstance(user_id, str) or one.node.scope.user_id == user_id)
        for node, sources in islice(own, most):
            (vector,) = self._embedder.embed_documents([search_text(node)])
            yield PreparedTexts(replace(node, embedding=vector), sources)

    def commit(
        self, prepared: Sequence[PreparedTexts], commit: Callable[[Plan], GraphDelta], at: datetime
    ) -> list[str]:
        """Store those that still fit, in one delta; return their ids."""
        if not prepared:
            return []
        kept: list[PreparedTexts] = []

        def plan() -> GraphDelta:
            kept.extend(self._fitting(prepared))
            return self._delta(kept, at) if kept else GraphDelta()

        commit(plan)
        if skipped := len(prepared) - len(kept):
            _log.info("%d of %d texts were skipped: their sources have changed", skipped, len(prepared))
        return [one.node.id for one in kept]

    def _profiles(self, view: GraphView, at: datetime) -> Iterator[PreparedTexts]:
        for known in known_subjects(self._store, view, at, LEAST):
            stored = {node.id: node.content for node in self._store.get_nodes([known.id], missing_ok=True)}
            text = known.text(self._zone)
            same = set(sources_of(view, [known.id]).get(known.id, [])) == {one.id for one in known.facts}
            # A language model's text depends on the facts only.
            if same and (stored.get(known.id) == text or self._summariser is not None):
                continue
            wording = self._wording(f"{known.subject}:\n" + "\n".join(known.clauses(self._zone)))
            yield PreparedTexts(profile_of(known, wording or text, at), known.facts)

    def _of_clusters(self, view: GraphView, at: datetime) -> Iterator[PreparedTexts]:
        for rows in self._clusters.find(view):
            nodes = self._store.get_nodes(view.names(rows), missing_ok=True)
            # The largest group of one owner that is valid in the same period
            groups = defaultdict[tuple[object, ...], list[MemoryNode]](list)
            for one in self._undisputed(view, nodes):
                groups[one.valid_from, one.valid_to, *one.scope.owner].append(one)
            agreeing: list[MemoryNode] = max(groups.values(), key=len, default=[])
            sources = sorted(
                agreeing,
                key=lambda node: ((node.timestamp or node.created_at).timestamp(), node.position or 0, node.id),
            )
            if len(sources) < LEAST or self._store.get_nodes([cluster_id(sources)], missing_ok=True):
                continue
            wording = self._wording(quoted(sources, self._zone))
            base, charge = self._energies(view, sources, at)
            energy = min(1.0, float((base + charge).max()))
            yield PreparedTexts(
                cluster_node(sources, wording or title_of(sources, self._zone), at, energy, is_summary=bool(wording)),
                sources,
            )

    def _undisputed(self, view: GraphView, nodes: Sequence[MemoryNode]) -> list[MemoryNode]:
        claims = self._store.get_nodes([*claims_of(view, [node.id for node in nodes])], missing_ok=True)
        held = {node.id for node in undisputed(self._store, view, claims)}
        sources = sources_of(view, [node.id for node in claims if node.id not in held])
        disputed = set(chain.from_iterable(sources.values()))
        return [node for node in undisputed(self._store, view, nodes) if node.id not in disputed]

    def _wording(self, memories: str) -> str:
        if self._summariser is None or self._calls <= 0:
            return ""
        self._calls -= 1
        return self._summariser.summary(memories)

    def _fitting(self, prepared: Sequence[PreparedTexts]) -> Iterator[PreparedTexts]:
        view = self._store.view()
        known = source_rows(view)
        for one in prepared:
            ids = [node.id for node in one.sources]
            now = self._store.get_nodes(ids, missing_ok=True)
            rows = view.known_rows(ids)
            same = rows.size == len(ids) == len(self._undisputed(view, now))
            same = same and all(map(same_source, one.sources, now))
            new = one.is_profile or not (self._store.get_nodes([one.node.id], missing_ok=True) or is_known(rows, known))
            if same and new:
                yield PreparedTexts(one.node, now)

    def _delta(self, kept: Sequence[PreparedTexts], at: datetime) -> GraphDelta:
        faded = list[NodeChange]()
        for one in kept:
            parts = () if one.is_profile else zip(*self._energies(self._store.view(), one.sources, at), strict=True)
            for node, (base, charge) in zip(one.sources, parts, strict=False):
                # Its base pays, because a charge has no journal; so a source keeps at least its charge.
                left = max(0.0, float((base + charge) * _FADE - charge))
                faded.append(NodeChange(node.id, energy=left, energy_at=at))
        held = sources_of(self._store.view(), [one.node.id for one in kept if one.is_profile])
        return GraphDelta(
            nodes=tuple(one.node for one in kept),
            edges=tuple(
                MemoryEdge(one.node.id, source.id, EdgeType.DERIVED_FROM, created_at=at)
                for one in kept
                for source in one.sources
            ),
            removed_edges=tuple(
                EdgeKey(one.node.id, name, EdgeType.DERIVED_FROM)
                for one in kept
                for name in sorted(set(held.get(one.node.id, ())).difference(source.id for source in one.sources))
            ),
            node_changes=tuple(faded),
            reason="consolidate",
            at=at,
            owner=Owner.MEMORY,
        )

    def _energies(
        self, view: GraphView, sources: Sequence[MemoryNode], at: datetime
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self._law.parts(view, view.rows([node.id for node in sources]), to_micros(at))
