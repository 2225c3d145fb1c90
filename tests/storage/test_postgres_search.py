"""Search in PostgreSQL: its tables agree with the log, and a recall over a part of the graph is one over all."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import LiteralString

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from neurogated import ANY_USER, EdgeType, MemoryConfig, NeuroGraphMemory
from neurogated.config.groups import RuntimeSettings
from neurogated.core.delta import GraphDelta
from neurogated.core.filters import Filter
from neurogated.core.model import MemoryNode
from neurogated.core.scope import Scope, ScopeFilter
from neurogated.errors import ConfigError
from neurogated.storage.log.postgres import partitions, search
from neurogated.storage.postgres_store import PostgresStore
from neurogated.testing.clock import ManualClock
from neurogated.testing.histories import edge, history_of, node

TOWNS = ("Lyon", "Graz", "Oslo", "Bern", "Riga", "Lima")
SIZE, DIMENSION = 60, 8


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    with PostgresStore.open(searching(url)) as opened:
        yield opened


def searching(url: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}search=database"


def assert_tables_agree(store: PostgresStore) -> None:
    nodes = {one.id: one for one in store.all_nodes()}
    stored = store.part(nodes)
    assert stored is not None
    assert {one.id: one for one in stored.all_nodes()} == nodes
    assert {one.key: one for one in stored.all_edges()} == {one.key: one for one in store.all_edges()}
    counts = store.engine.fetch("SELECT (SELECT count(*) FROM memories), (SELECT count(*) FROM links)")
    assert counts == [(len(nodes), sum(1 for _ in store.all_edges()))]
    left = store.engine.fetch("SELECT count(*) FROM terms WHERE node NOT IN (SELECT node FROM memories)")
    assert left == [(0,)]


@pytest.mark.parametrize("seed", range(3))
def test_the_tables_agree_with_the_log(store: PostgresStore, seed: int) -> None:
    for delta, _ in history_of(Random(seed), ManualClock(), 60):
        store.apply(delta)
    assert_tables_agree(store)


def test_a_writer_that_does_not_search_keeps_the_tables_too(url: str) -> None:
    history = [delta for delta, _ in history_of(Random(7), ManualClock(), 40)]
    with PostgresStore.open(url) as writer:
        for delta in history[:20]:
            writer.apply(delta)
        with PostgresStore.open(searching(url)) as store:
            for delta in history[20:]:
                writer.apply(delta)
            assert_tables_agree(store)
            with pytest.raises(KeyError), writer.transaction():  # noqa: PT012 - the whole block is under test
                writer.apply(GraphDelta(nodes=(node("rolled back"),)))
                raise KeyError
            assert_tables_agree(store)


@pytest.fixture
def filled(url: str, tmp_path: Path) -> Iterator[tuple[NeuroGraphMemory, NeuroGraphMemory]]:
    """Return two memories that only read one graph: by the database, and by an index."""
    config = MemoryConfig(storage=searching(url), save_dir=str(tmp_path), embedding_name="hash")
    with NeuroGraphMemory(config) as memory:
        for number, town in enumerate(TOWNS):
            memory.add(f"Ana went to {town} by train {number}.")
            memory.add(f"Bob hid the key of {town}.", user_id="bob")
        memory.add("Ana lives in Lyon.", timestamp="2024-01-01")
        memory.add("Ana lives in Graz.", timestamp="2025-01-01")
        for number, town in enumerate(TOWNS):
            memory.add(f"I live in {town}.", user_id="dan", timestamp=f"2020-0{number + 1}-01")
            memory.add(f"I am a teacher of {town}.", user_id="dan", timestamp=f"2020-0{number + 1}-02")
        memory.delete(memory.recall("train to Lima", top_n=1).ids[0])
    readers = config.replace(read_only=True), config.replace(read_only=True, storage=url)
    with NeuroGraphMemory(readers[0]) as first, NeuroGraphMemory(readers[1]) as second:
        yield first, second


def test_a_recall_over_a_part_of_the_graph_is_one_over_all(
    filled: tuple[NeuroGraphMemory, NeuroGraphMemory],
) -> None:
    by_database, by_index = filled
    beyond = set[str]()
    for question in ("Where does Ana live?", "Who went to Oslo?", "the key of Bern", "train", "Where do I live?"):
        for user in (None, "bob", "cyd", "dan", ANY_USER):
            found = by_database.recall(question, user_id=user)
            expected = by_index.recall(question, user_id=user)
            assert found.ids == expected.ids
            assert [one.score for one in found] == pytest.approx([one.score for one in expected])
            assert found.facts == expected.facts
            assert found.former == expected.former
            assert found.states == expected.states
            assert found.conflicts == expected.conflicts
            beyond |= {
                one.id for one in found.conflicts if not {one.first, one.second} & set(found.ids[: search.FIRST])
            }
            if user in {None, "cyd"}:
                assert not any("key" in one.content for one in found)
    assert beyond, "no conflict is about memories beyond those whose neighbours are loaded"
    store = by_database.store
    assert isinstance(store, PostgresStore)
    assert store.graph.is_unloaded


def test_a_recall_that_finds_nothing_loads_no_index(url: str, tmp_path: Path) -> None:
    config = MemoryConfig(storage=searching(url), save_dir=str(tmp_path), embedding_name="hash")
    with NeuroGraphMemory(config) as memory:
        memory.add("Bob lives in Oslo.", user_id="bob")
    with NeuroGraphMemory(config.replace(read_only=True)) as reader:
        assert not reader.recall("Where do I live?", user_id="cyd").ids
        assert isinstance(reader.store, PostgresStore)
        assert reader.store.graph.is_unloaded


def test_other_filters_are_answered_by_the_index(filled: tuple[NeuroGraphMemory, NeuroGraphMemory]) -> None:
    by_database, by_index = filled
    (chosen,) = by_index.recall("Who went to Riga?", top_n=1).ids
    assert by_database.recall("Who went to Oslo?", only_ids=[chosen]).ids == (chosen,)


def test_memories_that_a_recall_leaves_out_hide_no_others(url: str, tmp_path: Path) -> None:
    config = MemoryConfig(storage=searching(url), save_dir=str(tmp_path), embedding_name="hash")
    with NeuroGraphMemory(config) as memory:
        out = memory.add([f"An oak stands in town {place}." for place in range(40)])
        ended = memory.add([f"An oak of street {place}." for place in range(40)], valid_to="2020-01-01")
        kept = memory.add("Beside the old oak of the far valley grows a small larch.")
    with NeuroGraphMemory(config.replace(read_only=True)) as reader:
        assert reader.recall("An oak stands in town 1.", top_n=1, except_ids=[*out, *ended]).ids == tuple(kept)
        assert reader.recall("An oak.", top_n=1, except_ids=out, valid_at="2021-01-01").ids == tuple(kept)


def test_a_question_is_embedded_once(
    filled: tuple[NeuroGraphMemory, NeuroGraphMemory], monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder, embedded = filled[0].session.parts.embedder, list[str]()
    embed = embedder.embed_queries

    def recorded(texts: Sequence[str]) -> NDArray[np.float32]:
        embedded.extend(texts)
        return embed(texts)

    monkeypatch.setattr(embedder, "embed_queries", recorded)
    filled[0].recall("Who went to Oslo?")
    assert len(embedded) == 1


def test_a_reader_sees_what_another_process_wrote(
    filled: tuple[NeuroGraphMemory, NeuroGraphMemory], url: str, tmp_path: Path
) -> None:
    with NeuroGraphMemory(MemoryConfig(storage=url, save_dir=str(tmp_path), embedding_name="hash")) as writer:
        (name,) = writer.add("Zoe planted an acacia.")
        assert filled[0].recall("acacia", top_n=1).ids == (name,)
        writer.delete(name)
        assert name not in filled[0].recall("acacia").ids


@pytest.mark.parametrize("owned", [1.0, 0.1])
def test_every_search_finds_its_rows_among_many(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, owned: float
) -> None:
    monkeypatch.setattr(search, "EXACT_BELOW", SIZE * 4)
    monkeypatch.setattr(partitions, "EXACT_BELOW", SIZE * 4)
    monkeypatch.setattr(search, "COMMON", SIZE)
    random = np.random.default_rng(1)
    vectors = random.normal(size=(SIZE * 10, DIMENSION)).astype(np.float32)
    names = [f"n{place}" for place in range(len(vectors))]
    scopes = ["ana" if place < owned * len(names) else "bob" for place in range(len(names))]
    for begin in range(0, len(names), 100):
        store.apply(
            GraphDelta(
                nodes=tuple(
                    node(name, *vector.tolist(), content=f"common w{name}", scope=Scope(user))
                    for name, vector, user in list(zip(names, vectors, scopes, strict=True))[begin : begin + 100]
                )
            )
        )
    store.make_searchable()
    ana = [place for place, user in enumerate(scopes) if user == "ana"]
    lengths = np.linalg.norm(vectors[ana], axis=1)
    for _ in range(10):
        asked = random.normal(size=DIMENSION).astype(np.float32)
        best = np.argsort(-(vectors[ana] @ asked) / lengths)[:10]
        found = store.neighbourhood(["common"], [asked], Filter(scope=ScopeFilter("ana")), 10)
        assert found is not None
        assert {names[ana[place]] for place in best.tolist()} <= {one.id for one in found.all_nodes()}
        assert {one.scope.user_id for one in found.all_nodes()} == {"ana"}
    rare = store.neighbourhood(["common wn3"], [asked], Filter(scope=ScopeFilter("ana")), 10)
    assert rare is not None
    assert rare.has_node("n3")


def test_another_embedding_model_needs_new_tables(store: PostgresStore, url: str) -> None:
    store.bind_embedder("one", 2)
    store.apply(GraphDelta(nodes=(node("a"), node("b"))))
    fresh = [(version.key, [1.0, 2.0, 3.0]) for version in store.embedded_versions()]
    store.replace_vectors("two", 3, fresh, GraphDelta())
    assert store.part(["a"]) is None
    with PostgresStore.open(searching(url)) as again:
        assert_tables_agree(again)


def test_a_compaction_rewrites_the_tables(store: PostgresStore) -> None:
    store.apply(GraphDelta(nodes=(MemoryNode("a", "secret"), node("b"))))
    store.remove_node("a")
    store.compact()
    assert_tables_agree(store)


def test_a_compaction_also_rewrites_the_tables_of_other_graphs(store: PostgresStore, url: str) -> None:
    store.apply(GraphDelta(nodes=(node("a", 1.0, content="secret"),)))
    with PostgresStore.open(url, "other") as other:
        store.remove_node("a")
        other.compact()
        assert other.engine.fetch("SELECT pg_relation_size('terms'), pg_relation_size('memories')") == [(0, 0)]


PARTS = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'vectors'::regclass"
INDEXES = "SELECT count(*) FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE relname ~ 'nearest' AND indisvalid"


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "EXACT_BELOW", 2)
    monkeypatch.setattr(partitions, "EXACT_BELOW", 2)


@pytest.mark.usefixtures("few_are_many")
def test_large_graphs_get_indexes_of_their_own_in_the_background_and_lose_them_when_dropped(url: str) -> None:
    config = MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=1))
    with PostgresStore.open(searching(url), config=config) as store:
        other = store.in_namespace("other")
        other.make_searchable()
        with store.transaction():
            for each in (store, other):
                each.apply(GraphDelta(nodes=tuple(node(name, 1.0) for name in "abc")))
                each.apply(GraphDelta(nodes=(node("d", 1.0),)))
            assert store.engine.fetch(PARTS) == [(1,)]
    with PostgresStore.open(searching(url)) as store:
        assert store.engine.fetch(PARTS) == [(3,)]
        assert store.engine.fetch(INDEXES) == [(2,)]
        store.drop_namespace("other")
        assert store.engine.fetch(PARTS) == [(2,)]
        store.apply(GraphDelta(nodes=(node("e", 1.0),)))
        assert_tables_agree(store)


@pytest.mark.usefixtures("few_are_many")
def test_the_index_of_a_graph_delays_no_writer(store: PostgresStore, url: str) -> None:
    hurried = MemoryConfig(runtime=RuntimeSettings(write_lock_seconds=0.2))
    with PostgresStore.open(searching(url), "tenant", config=hurried) as other, ThreadPoolExecutor() as pool:
        with store.transaction():
            store.apply(GraphDelta(nodes=tuple(node(name, 1.0) for name in "abc")))
            other.apply(GraphDelta(nodes=(node("a", 1.0),)))
        with psycopg.connect(url) as old:
            # To build an index concurrently, the server waits for older transactions.
            old.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            old.execute("SELECT 1")
            building = pool.submit(store.make_searchable)
            while not building.done() and other.engine.fetch(PARTS) == [(1,)]:
                pass
            for name in "bcdef":
                other.apply(GraphDelta(nodes=(node(name, 1.0),)))
                other.in_namespace(store.graph.name).apply(GraphDelta(nodes=(node(f"{name}2", 1.0),)))
        building.result()
        store.make_searchable()
        assert store.engine.fetch(INDEXES) == [(1,)]
        assert store.check() == []


@pytest.mark.usefixtures("few_are_many")
def test_vectors_too_long_for_an_index_are_compared_one_by_one(
    store: PostgresStore, caplog: pytest.LogCaptureFixture
) -> None:
    vectors = np.eye(4, 4001, dtype=np.float32)
    store.apply(GraphDelta(nodes=tuple(node(f"n{place}", *vectors[place].tolist()) for place in range(4))))
    store.make_searchable()
    assert "4001 dimensions" in caplog.text
    found = store.neighbourhood([], [vectors[3]], Filter(scope=ScopeFilter(ANY_USER)), 1)
    assert found is not None
    assert found.has_node("n3")
    store.apply(GraphDelta(nodes=(node("more", *vectors[0].tolist()),)))
    assert_tables_agree(store)


@pytest.mark.usefixtures("few_are_many")
def test_the_statistics_of_the_planner_have_nothing_that_users_wrote(url: str) -> None:
    config = MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=1))
    with PostgresStore.open(searching(url), config=config) as store:
        for name in "abcdef":
            store.apply(GraphDelta(nodes=(node(name, 1.0, 2.0),), reason=f"secret {name}"))
        nodes = node("g", 1.0, 3.0), node("h", 1.0, 4.0)
        store.apply(GraphDelta(nodes=nodes, edges=(edge("g", "h"), edge("h", "g")), reason="secret"))
        store.record_copy("secret")
        store.in_namespace("secret")
    with PostgresStore.open(searching(url)) as store:
        store.engine.change("ANALYZE")
        sampled = store.engine.fetch(
            "SELECT relname, s.attname FROM pg_stats s, pg_class c, pg_attribute a WHERE relname = tablename "
            "AND c.oid = attrelid AND a.attname = s.attname AND schemaname = current_schema() "
            "AND NOT atttypid = ANY('{uuid, int, bigint, boolean, float8}'::regtype[])"
        )
        # The types of edges, the names of settings and random numbers are nobody's words.
        assert set(sampled) <= {("links", "type"), ("settings", "name"), ("deltas", "token"), ("memories", "state")}
        assert len(sampled) >= 3
        keywords = store.engine.fetch("SELECT 1 FROM pg_stats WHERE tablename = 'terms' AND attname = 'term'")
        assert not keywords
        ((index,),) = store.engine.fetch(
            "SELECT count(*) FROM pg_index WHERE indexrelid = 'vectors_of_1_nearest'::regclass"
        )
        assert index == 1


@pytest.mark.parametrize("exact", [True, False])
def test_expired_memories_hide_no_others(
    url: str, monkeypatch: pytest.MonkeyPatch, clock: ManualClock, *, exact: bool
) -> None:
    if not exact:
        monkeypatch.setattr(search, "EXACT_BELOW", 2)
        monkeypatch.setattr(partitions, "EXACT_BELOW", 2)
    monkeypatch.setattr(search, "COMMON", SIZE)
    soon = clock() + timedelta(seconds=1)
    short = [node(f"short{place}", 1.0, 0.0, content="oak", expires_at=soon) for place in range(2 * SIZE)]
    long = [
        node(f"long{place}", 0.5, 0.5, content="oak tree", expires_at=clock() + timedelta(days=1)) for place in "ab"
    ]
    with PostgresStore.open(searching(url), clock=clock) as store:
        near = node("near", content="elm", embedding=None)
        edges = [edge("longa", one.id, EdgeType.SIM) for one in (*short, near)]
        store.apply(GraphDelta(nodes=(*short, *long, near), edges=tuple(edges)))
        store.make_searchable()
        clock.advance(timedelta(seconds=2))
        for texts, vectors in ([], [np.array([1.0, 0.0])]), (["oak"], []):
            found = store.neighbourhood(texts, vectors, Filter(scope=ScopeFilter(ANY_USER)), 5)
            assert found is not None
            assert {one.id for one in found.all_nodes()} == {"longa", "longb", "near"}


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE links SET weight = 0.0625",
        "DELETE FROM memories",
        "DELETE FROM terms",
        "UPDATE vectors SET vector = '[1, 0]'",
    ],
)
def test_a_check_finds_tables_that_differ(store: PostgresStore, damage: LiteralString) -> None:
    nodes = node("a", 0.1, 0.2, content="an acacia"), node("b", content="a birch")
    store.apply(GraphDelta(nodes=nodes, edges=(edge("a", "b", EdgeType.SIM),)))
    assert store.check() == []
    store.engine.change(damage)
    assert len(store.check()) == 1


def test_an_unknown_way_to_search_is_refused(url: str) -> None:
    with pytest.raises(ConfigError):
        PostgresStore.open(f"{url}&search=everywhere" if "?" in url else f"{url}?search=everywhere")
