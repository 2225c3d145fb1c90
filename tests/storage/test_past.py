"""The past, the journal and readers beside the writer agree over random histories."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from neurogated import (
    Access,
    Decay,
    EdgeKey,
    EdgeType,
    GraphDelta,
    GraphStore,
    MemoryEdge,
    MemoryNode,
    WeightChange,
)
from neurogated.config.groups import RuntimeSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import from_micros
from neurogated.core.delta import NodeChange
from neurogated.core.found import NOTHING_FOUND, Found
from neurogated.core.scope import Scope
from neurogated.errors import InputError
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.testing import ManualClock
from neurogated.testing.contract.base import unused

NAMES = "abcdef"
TEXTS = ("red fox", "red red dog", "blue dog", "", "fox", "the", "blue bird over a red house with a green door")
TITLES = ("Fox", "Dog, the", "House (big)")
VECTORS = ((1.0, 0.0), (0.6, 0.8), (0.0, -1.0), (0.0, 0.0), (3.0, 4.0))
QUERIES = ("red", "fox dog", "blue", "green")
TAGS = ("subject fox", "subject dog", "subject house", "speaker fox", "has time")
KINDS = (EdgeType.SEQ, EdgeType.SIM, EdgeType.CAUSE)
START = ManualClock().now
PROBES = tuple(START + timedelta(hours=hours) for hours in (-1, 0, 3, 10))

numbers = st.integers(0, 2**16)
steps = st.lists(
    st.tuples(
        st.sampled_from(
            ["node", "node", "edge", "edge", "weight", "recharge", "drop", "cut", "decay", "touch", "again", "mix"]
        ),
        st.tuples(numbers, numbers, numbers, numbers),
        st.integers(-2, 5),
    ),
    min_size=1,
    max_size=14,
)

FEW = MemoryConfig(runtime=RuntimeSettings(overlay_edges=3))


class Told(NamedTuple):
    """The readable state of a graph except access times. Scores are separate, as they have a tolerance."""

    facts: list[Any]
    scores: list[float]


KINDS_OF_CHANGE = [
    "node",
    "node",
    "edge",
    "edge",
    "weight",
    "recharge",
    "drop",
    "cut",
    "decay",
    "touch",
    "again",
    "mix",
]


def _node(name: str, numbers: tuple[int, ...], now: Any) -> MemoryNode:  # noqa: ANN401
    a, b, c, d = numbers
    lasting: dict[str, Any] = {
        "valid_from": now + timedelta(hours=a % 4 - 2) if b % 3 == 0 else None,
        "valid_to": now + timedelta(hours=3 + a % 3) if b % 4 == 1 else None,
        "expires_at": now + timedelta(hours=d % 8 - 1) if c % 4 == 2 else None,
    }
    found = NOTHING_FOUND if a % 3 else Found(times=["noon"][: c % 2])
    vector = None if d % 3 == 0 else VECTORS[d % len(VECTORS)]
    return MemoryNode(
        name,
        TEXTS[a % len(TEXTS)],
        vector,
        (b % 17) / 16,
        title=None if a % 3 else TITLES[b % len(TITLES)],
        found=found,
        created_at=now,
        last_accessed=now,
        **lasting,
        kind=("episode", "fact")[a % 2],
        scope=Scope(session_id=f"s{b % 3}" if c % 2 else None),
        importance=(c % 9) / 8,
    )


def _edge(key: EdgeKey, numbers: tuple[int, ...], now: Any) -> MemoryEdge:  # noqa: ANN401
    _, b, c, _ = numbers
    end = now + timedelta(hours=c % 5) if b % 3 == 0 else None
    begin = now - timedelta(hours=1) if c % 3 == 0 else None
    return MemoryEdge(*key, (b % 17) / 16, created_at=now, valid_from=begin, valid_to=end)


def _delta(store: GraphStore, kind: str, numbers: tuple[int, ...], now: Any) -> GraphDelta | None:  # noqa: ANN401, C901, PLR0911
    """Return a change of this kind that the graph accepts, or None."""
    a, b, c, d = numbers
    whole = store.graph.index.topology.view()
    there = [whole.ids[row] for row in whole.live_nodes().tolist()]
    edges = [whole.edge_key(row) for row in whole.live_edges().tolist()]
    if kind == "node":
        put = [NAMES[a % len(NAMES)], NAMES[b % len(NAMES)]][: 1 + c % 2]
        return GraphDelta(nodes=tuple(_node(name, numbers, now) for name in dict.fromkeys(put)), reason="put", at=now)
    if kind == "edge" and len(there) > 1:
        source = a % len(there)
        target = (source + 1 + b % (len(there) - 1)) % len(there)
        key = EdgeKey(there[source], there[target], KINDS[c % len(KINDS)])
        return GraphDelta(edges=(_edge(key, numbers, now),), reason="link", at=now)
    if kind == "decay":
        return GraphDelta(operators=(Decay(0.5, now - timedelta(hours=b % 3), (c % 9) / 16),), reason="decay", at=now)
    if kind == "touch" and there:
        used = frozenset({edges[b % len(edges)], edges[c % len(edges)]} if edges else ())
        return GraphDelta(touch=Access.of(frozenset({there[a % len(there)]}), used), at=now)
    if kind == "weight" and (plastic := [key for key in edges if key.type.plastic]):
        change = WeightChange(plastic[a % len(plastic)], (b % 17) / 16, now - timedelta(hours=1) if c % 2 else None)
        also = frozenset(key for key in (edges[d % len(edges)],) if not key.type.plastic)
        return GraphDelta(weights=(change,), touch=Access(edges=also), reason="learn", at=now)
    if kind == "recharge" and there:
        importance = None if c % 3 else (d % 9) / 8
        energy = (b % 9) / 8 if importance is None or c % 2 else None
        return GraphDelta(node_changes=(NodeChange(there[a % len(there)], energy, importance=importance),), at=now)
    if kind == "drop" and there:
        return GraphDelta(removed_nodes=(there[a % len(there)],), reason="forget", at=now)
    if kind == "cut" and edges:
        key = edges[a % len(edges)]
        again = (_edge(key, numbers, now),) if b % 2 else ()
        return GraphDelta(removed_edges=(key,), edges=again, reason="cut", at=now)
    if kind == "again" and there:
        # Removed and added in one delta: the node is new and has none of the old edges.
        name = there[a % len(there)]
        return GraphDelta(removed_nodes=(name,), nodes=(_node(name, numbers, now),), reason="again", at=now)
    if kind == "mix" and len(there) > 1:
        gone, other = there[a % len(there)], there[(a + 1) % len(there)]
        cut = tuple(key for key in edges if other in key[:2])[:1]
        return GraphDelta(removed_nodes=(gone,), removed_edges=cut, nodes=(_node(other, numbers, now),), at=now)
    return None


def _told(store: GraphStore) -> Told:
    facts: list[Any] = []
    scores: list[float] = []
    view = store.view()
    nodes = [node.unaccessed() for node in store.all_nodes()]
    assert [node.id for node in store.get_nodes([node.id for node in nodes])] == [node.id for node in nodes]
    edges = [unused(edge) for edge in store.all_edges()]
    facts += [nodes, edges, [store.has_node(name) for name in NAMES]]
    facts.append([view.ids[row] for row in view.live_nodes().tolist()])
    for vector, k in zip(VECTORS, cycle((1, 2, len(NAMES))), strict=False):
        found = store.nearest(vector, k)
        facts.append([name for name, _ in found])
        scores += [score for _, score in found]
    rows = view.live_nodes()
    for query, k in zip(QUERIES, cycle((1, 3, len(NAMES))), strict=False):
        found = store.keyword_search(query, k)
        facts.append([name for name, _ in found])
        scores += [score for _, score in found]
        scores += store.keyword_scores(query, view, rows).tolist()
    scores += store.similarities(VECTORS[1], view, rows).tolist()
    facts += [store.existing_tags(TAGS), store.has_tags(TAGS, view, rows).tolist()]
    facts.append([sorted(store.expired(moment)) for moment in PROBES])
    for seen in (view, *(store.view(valid_at=moment) for moment in PROBES)):
        for row in seen.live_nodes():
            arcs = seen.arcs(np.array([row]), both_ways=True)
            ends = [seen.ids[target] for target in arcs.target.tolist()]
            facts.append((seen.ids[row], ends, arcs.weight.tolist()))
        facts.append([name for name, _ in store.nearest(VECTORS[1], 3, seen)])
        facts.append([name for name, _ in store.keyword_search("red dog", 3, seen)])
        facts.append(store.existing_tags(TAGS, seen))
    return Told(facts, scores)


def _assert_same(one: Told, other: Told) -> None:
    assert one.facts == other.facts
    assert np.allclose(one.scores, other.scores, rtol=0, atol=1e-12)


class Worlds:
    """One history in memory and on disk, with the state after each delta, and a reader beside the writer."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock()
        self.path = folder / "memory.db"
        self.in_memory = GraphStore(config=FEW, clock=self.clock)
        self.on_disk = SqliteStore.open(self.path, config=FEW, clock=self.clock)
        self.reader = SqliteStore.open(self.path, config=FEW, clock=self.clock, read_only=True)
        self.last = 0
        # By the number of each delta of the history. `times` has the time of each delta.
        self.told = {0: _told(self.in_memory)}
        self.times: dict[int, datetime] = {}

    def take(self, kind: str, numbers: tuple[int, ...], hours: int) -> None:
        self.clock.advance(timedelta(hours=hours))
        delta = _delta(self.in_memory, kind, numbers, self.clock())
        if delta is None:
            return
        self.last += 1
        assert self.on_disk.apply(delta) == self.in_memory.apply(delta) == self.last
        if not delta.tells_of_uses_only:
            self.told[self.last] = _told(self.in_memory)
            self.times[self.last] = self.clock()

    def reopen(self) -> None:
        self.on_disk.close()
        self.on_disk = SqliteStore.open(self.path, config=FEW, clock=self.clock)

    def close(self) -> None:
        self.reader.close()
        self.on_disk.close()


def _over(history: list[Any], check: Callable[[Worlds], None], each: Callable[[Worlds], None] | None = None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        worlds = Worlds(Path(folder))
        try:
            for step in history:
                worlds.take(*step)
                if each:
                    each(worlds)
            check(worlds)
        finally:
            worlds.close()


@settings(max_examples=20)
@given(steps)
def test_the_past_agrees_with_the_state_of_that_time(history: list[Any]) -> None:
    def check(worlds: Worlds) -> None:
        for store in (worlds.in_memory, worlds.on_disk, worlds.reader):
            for sequence, told in worlds.told.items():
                _assert_same(_told(store.as_of(sequence)), told)
        worlds.reopen()
        for sequence, told in worlds.told.items():
            _assert_same(_told(worlds.on_disk.as_of(sequence)), told)

    _over(history, check)


@settings(max_examples=20)
@given(steps, numbers)
def test_a_look_at_the_past_stays_where_it_is(history: list[Any], when: int) -> None:
    pasts: list[tuple[Any, Told]] = []

    def each(worlds: Worlds) -> None:
        sequence = list(worlds.told)[when % len(worlds.told)]
        pasts.extend((store.as_of(sequence), worlds.told[sequence]) for store in (worlds.on_disk, worlds.reader))
        # The views opened at this step, and those of the step before, when the graph was different.
        for past, told in pasts[-4:]:
            _assert_same(_told(past), told)

    _over(history, lambda _: None, each)


@settings(max_examples=20)
@given(steps, st.lists(st.integers(-30, 60), min_size=3, max_size=3))
def test_a_time_stands_for_the_last_delta_made_by_then(history: list[Any], hours: list[int]) -> None:
    def check(worlds: Worlds) -> None:
        for moment in [*(START + timedelta(hours=hour) for hour in hours), *worlds.times.values()]:
            made = [number for number, at in worlds.times.items() if at <= moment]
            expected = max(made, default=0)
            worlds.clock.now = moment
            told = _told(_replayed(worlds.in_memory, expected, worlds.clock))
            for store in (worlds.in_memory, worlds.on_disk, worlds.reader):
                past = store.as_of(moment)
                assert past.view().sequence == expected
                _assert_same(_told(past), told)

    _over(history, check)


def _replayed(store: GraphStore, up_to: int, clock: ManualClock) -> GraphStore:
    made = GraphStore(clock=clock)
    for entry in store.journal():
        if entry.sequence <= up_to:
            made.apply(entry.delta)
    return made


def _story(store: GraphStore) -> list[Any]:
    return [(entry.at, entry.reason, entry.changes, entry.operators) for entry in store.history()]


@settings(max_examples=20)
@given(steps)
def test_a_journal_replayed_is_the_same_memory(history: list[Any]) -> None:
    def check(worlds: Worlds) -> None:
        journal = list(worlds.on_disk.journal())
        assert journal == list(worlds.reader.journal())
        with SqliteStore.open(worlds.path.with_name("copy.db"), clock=worlds.clock) as on_disk:
            for copy in (GraphStore(clock=worlds.clock), on_disk):
                numbers = {0: 0} | {entry.sequence: copy.apply(entry.delta) for entry in journal}
                _assert_same(_told(copy), _told(worlds.in_memory))
                assert _story(copy) == _story(worlds.on_disk) == _story(worlds.in_memory)
                for sequence, told in worlds.told.items():
                    _assert_same(_told(copy.as_of(numbers[sequence])), told)
        assert worlds.on_disk.check() == []

    _over(history, check)


@settings(max_examples=20)
@given(steps)
def test_a_reader_agrees_with_the_writer(history: list[Any]) -> None:
    def each(worlds: Worlds) -> None:
        assert worlds.reader.history() == worlds.on_disk.history()
        assert worlds.reader.view().sequence == worlds.on_disk.view().sequence
        _assert_same(_told(worlds.reader), _told(worlds.on_disk))
        assert list(worlds.reader.all_nodes()) == list(worlds.on_disk.all_nodes())

    _over(history, each, each)


@settings(max_examples=20)
@given(steps)
def test_compaction_takes_removed_nodes_out_of_the_past_and_nothing_else(history: list[Any]) -> None:
    def check(worlds: Worlds) -> None:
        whole = worlds.on_disk.graph.index.topology.view()
        left = {whole.ids[row] for row in whole.live_nodes().tolist()}
        gone = set(whole.ids) - left
        halfway = list(worlds.told)[len(worlds.told) // 2]
        before = worlds.on_disk.as_of(halfway)
        assert worlds.on_disk.compact() == len(gone)
        assert worlds.on_disk.check() == []
        assert before.view().sequence == halfway
        for store in (worlds.on_disk, worlds.reader):
            for sequence, told in worlds.told.items():
                past = store.as_of(sequence)
                nodes = [node.unaccessed() for node in past.all_nodes()]
                assert nodes == [node for node in told.facts[0] if node.id in left]
                edges = [edge for edge in told.facts[1] if {edge.source_id, edge.target_id} <= left]
                assert [unused(edge) for edge in past.all_edges()] == edges
                _assert_same(_told(past), _told(_without(worlds.in_memory, gone, sequence)))
        _assert_same(_told(before), _told(worlds.on_disk.as_of(halfway)))
        _assert_same(_told(worlds.reader), _told(worlds.on_disk))

    _over(history, check)


def _without(store: GraphStore, gone: set[str], up_to: int) -> GraphStore:
    """Return a graph whose history never had the nodes `gone`, as of a delta."""
    changes = [entry for entry in store.journal() if not entry.delta.tells_of_uses_only]
    moment = [entry.delta.at for entry in changes if entry.sequence <= up_to]
    made = GraphStore(clock=lambda: moment[-1] if moment else from_micros(0))
    for entry in store.journal():
        if entry.sequence > up_to:
            break
        delta = entry.delta
        made.apply(
            replace(
                delta,
                nodes=tuple(node for node in delta.nodes if node.id not in gone),
                removed_nodes=tuple(name for name in delta.removed_nodes if name not in gone),
                edges=tuple(edge for edge in delta.edges if not gone & set(edge.key[:2])),
                removed_edges=tuple(key for key in delta.removed_edges if not gone & set(key[:2])),
                weights=tuple(change for change in delta.weights if not gone & set(change.edge[:2])),
                node_changes=tuple(change for change in delta.node_changes if change.node not in gone),
            )
        )
    return made


@pytest.mark.parametrize("moment", ["yesterday", None, 0.5])
def test_an_invalid_delta_is_refused(store: GraphStore, moment: Any) -> None:  # noqa: ANN401
    with pytest.raises(InputError, match="no delta"):
        store.as_of(moment)


def test_an_unknown_delta_is_refused(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "memory.db") as store:
        store.add_node(MemoryNode("a", "a"))
        for unknown in (-1, 2):
            with pytest.raises(InputError, match=f"no delta {unknown}"):
                store.as_of(unknown)
