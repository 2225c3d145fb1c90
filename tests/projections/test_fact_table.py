"""Facts in memories and as rows of SQL tables."""

import itertools
import json
import logging
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, text

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core import outage
from neurogated.core.clock import utc_now
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.facts import Fact
from neurogated.core.found import Found, Statement
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.scope import Scope
from neurogated.errors import InputError, StorageError
from neurogated.plasticity.undo import undo
from neurogated.projections.fact_table import FactTable
from neurogated.session import compose
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.sqlite_store import SqliteStore
from tests.knowledge.plain_reader import config_of

if TYPE_CHECKING:
    from tests.postgres_server import Postgres


DERIVED = EdgeType.DERIVED_FROM


def rows_in(url: str, query: str = "SELECT * FROM facts ORDER BY namespace, id") -> list[dict[str, Any]]:
    """Return rows as any program would read them."""
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        rows = [dict(row._mapping) for row in connection.execute(text(query))]
    engine.dispose()
    for row in rows:
        for name in {"path", "sources"} & row.keys():
            row[name] = json.loads(row[name]) if isinstance(row[name], str) else row[name]
        for name in {"valid_from", "valid_to", "said_at", "expires_at"} & row.keys():
            if isinstance(row[name], str):
                row[name] = datetime.fromisoformat(row[name]).replace(tzinfo=UTC)
    return rows


def reference(store: GraphStore, namespace: str = "default") -> list[dict[str, Any]]:
    """Return the rows that the table should have, from the whole graph and the whole journal."""
    edges = [edge for edge in store.all_edges() if edge.type is DERIVED]
    entries, rows = list(store.journal()), []
    for node in store.all_nodes():
        parts = node.found.statement
        if node.kind not in {"fact", "claim"} or parts is None:
            continue
        sources = sorted(edge.target_id for edge in edges if edge.source_id == node.id)
        wrote = [
            entry.sequence
            for entry in entries
            if node.id in {put.id for put in entry.delta.nodes}
            or node.id in {edge.source_id for edge in entry.delta.edges if edge.type is DERIVED}
            or node.id in {key.source_id for key in entry.delta.removed_edges if key.type is DERIVED}
        ]
        rows.append({
            "memory": store.identity[0], "namespace": namespace, "id": node.id,
            "user_id": node.scope.user_id, "agent_id": node.scope.agent_id, "session_id": node.scope.session_id,
            "path": list(node.scope.path), "subject": parts.subject, "attribute": parts.attribute,
            "value": parts.value, "is_denied": parts.is_denied, "statement": node.content,
            "valid_from": node.valid_from, "valid_to": node.valid_to, "said_at": node.timestamp,
            "expires_at": node.expires_at, "confidence": parts.confidence, "sources": sources,
            "sequence": max(wrote),
        })  # fmt: skip
    return sorted(rows, key=lambda row: row["id"])


def without_sequence(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "sequence"} for row in rows]


def fact(name: str, value: str = "Lyon", **fields: Any) -> MemoryNode:  # noqa: ANN401
    parts = Statement("Ana", "city", value)
    return MemoryNode(name, parts.text, kind="fact", found=Found(statement=parts), **fields)


def put(*nodes: MemoryNode, edges: tuple[MemoryEdge, ...] = ()) -> GraphDelta:
    return GraphDelta(nodes=nodes, edges=edges)


NAMES = "abcdef"


def test_a_row_has_all_columns(table: FactTable, url: str, store: GraphStore) -> None:
    moment = datetime(2020, 2, 3, 4, 5, 6, 789, tzinfo=UTC)
    scope = Scope("ana", "bot", "s1", ("home", "notes"))
    times = {name: moment + timedelta(days=place) for place, name in enumerate(("valid_from", "valid_to", "timestamp"))}
    store.apply(put(MemoryNode("x", "x", scope=scope), fact("f", "Łódź 里昂 '\"\0", scope=scope, **times)))
    store.apply(put(edges=(MemoryEdge("f", "x", DERIVED),)))
    assert table.catch_up(store, "default") == 1
    (row,) = rows_in(url)
    (wanted,) = reference(store)
    for name in ("value", "statement"):
        wanted[name] = wanted[name].replace("\0", "\ufffd")
    assert row == wanted
    assert row["sources"] == ["x"]
    assert row["sequence"] == 2


_ACTIONS = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(NAMES), st.sampled_from(["fact", "episode"]), st.text(max_size=3)),
    st.tuples(st.just("remove"), st.sampled_from(NAMES)),
    st.tuples(st.just("derive"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("detach"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("undo"), st.integers(0, 9)),
    st.tuples(st.just("compact"), st.booleans()),
    st.tuples(st.just("catch up")),
)


def _act(store: GraphStore, table: FactTable, action: tuple[Any, ...]) -> None:
    name, *details = action
    there = {node.id for node in store.all_nodes()}
    if name == "put":
        node = fact(details[0], details[2] or "x") if details[1] == "fact" else MemoryNode(details[0], details[2])
        store.apply(put(node))
    elif name == "remove" and details[0] in there:
        store.apply(GraphDelta(removed_nodes=(details[0],)))
    elif name == "derive" and details[0] != details[1] and there >= set(details):
        store.apply(put(edges=(MemoryEdge(details[0], details[1], DERIVED),)))
    elif name == "detach" and any((e.source_id, e.target_id) == tuple(details) for e in store.all_edges()):
        store.apply(GraphDelta(removed_edges=(EdgeKey(details[0], details[1], DERIVED),)))
    elif name == "undo" and store.view().sequence >= details[0]:
        undo(store, details[0], utc_now)
    elif name == "compact":
        store.compact(history=details[0])
    elif name == "catch up":
        table.catch_up(store, "default")


@pytest.mark.parametrize("storage", ["memory", "sqlite"])
@given(actions=st.lists(_ACTIONS, max_size=25))
def test_after_any_history_the_rows_are_those_of_the_graph(
    tmp_path_factory: pytest.TempPathFactory, storage: str, actions: list[tuple[Any, ...]]
) -> None:
    folder = tmp_path_factory.mktemp("facts")
    url = f"sqlite:///{folder}/facts.db"
    table = FactTable(url, seconds=5.0)
    with SqliteStore.open(folder / "memory.db") if storage == "sqlite" else GraphStore() as store:
        for action in actions:
            _act(store, table, action)
        table.catch_up(store, "default")
        assert without_sequence(rows_in(url)) == without_sequence(reference(store))
        assert table.catch_up(store, "default") == 0


def test_memories_and_namespaces_share_a_database(table: FactTable, url: str) -> None:
    with GraphStore() as first, GraphStore() as second:
        inner = first.in_namespace("inner")
        for number, store in enumerate((first, inner, second)):
            store.apply(put(fact("f", str(number))))
        for store, namespace in ((first, "default"), (inner, "inner"), (second, "default")):
            table.catch_up(store, namespace)
        assert sorted(row["value"] for row in rows_in(url)) == ["0", "1", "2"]
        table.forget(inner, "inner")
        assert sorted(row["value"] for row in rows_in(url)) == ["0", "2"]
        second.apply(GraphDelta(removed_nodes=("f",)))
        table.catch_up(second, "default")
        assert [row["value"] for row in rows_in(url)] == ["0"]


@pytest.mark.parametrize(
    "loss", ["DELETE FROM facts_progress", "DROP TABLE facts", "UPDATE facts_progress SET version = version + 1"]
)
def test_lost_or_foreign_rows_are_rebuilt(table: FactTable, url: str, store: GraphStore, loss: str) -> None:
    store.apply(put(fact("f"), fact("g")))
    table.catch_up(store, "default")
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text(loss))
    engine.dispose()
    assert table.catch_up(store, "default") == 2
    assert rows_in(url) == reference(store)


def test_a_failure_in_the_middle_changes_nothing(
    table: FactTable, url: str, store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.apply(put(fact("f")))
    table.catch_up(store, "default")
    before = rows_in(url)
    store.apply(put(*(fact(f"f{number}") for number in range(30))))
    store.apply(GraphDelta(removed_nodes=("f",)))
    monkeypatch.setattr("neurogated.projections.fact_table._AT_ONCE", 7)
    found = store.get_nodes
    calls = itertools.count()

    def failing(*args: Any, **options: Any) -> list[MemoryNode]:  # noqa: ANN401
        if next(calls) == 2:
            raise KeyboardInterrupt
        return found(*args, **options)

    monkeypatch.setattr(store, "get_nodes", failing)
    with pytest.raises(KeyboardInterrupt):
        table.catch_up(store, "default")
    assert rows_in(url) == before
    table.catch_up(store, "default")
    assert rows_in(url) == reference(store)


def test_the_statistics_of_a_server_have_no_words(request: pytest.FixtureRequest, store: GraphStore) -> None:
    url = request.getfixturevalue("postgres").database()
    store.apply(put(*(fact(f"f{place}", f"word{place}", scope=Scope("xochitl")) for place in range(20))))
    FactTable(url, seconds=5).catch_up(store, "default")
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("ANALYZE facts"))
        sampled = set(connection.execute(text("SELECT attname FROM pg_stats WHERE tablename = 'facts'")).scalars())
    engine.dispose()
    assert sampled <= {"is_denied", "valid_from", "valid_to", "said_at", "expires_at", "confidence", "sequence"}
    assert "sequence" in sampled


@pytest.fixture
def file(config: MemoryConfig) -> Path:
    return Path(config.save_dir) / "facts.db"


def values(file: Path) -> list[str]:
    return sorted(row["value"] for row in rows_in(f"sqlite:///{file}"))


@pytest.mark.parametrize("hold", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_program_that_holds_the_file_delays_no_write(
    config: MemoryConfig, file: Path, hold: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A write that waited for the file would wait for ten minutes.
    monkeypatch.setattr(compose, "FACTS_SECONDS", 600.0)
    with NeuroGraphMemory(config) as memory:
        ids = [memory.facts.add("Ana", "pet", name) for name in ("a heron", "a cat")]
        other = sqlite3.connect(file, isolation_level=None)
        other.execute(hold)
        for number in range(5):
            memory.facts.add("Ana", f"number {number}", number)
        memory.delete(ids[0])
        memory.update(ids[1], importance=0.9)
        other.execute("ROLLBACK")
        other.close()
        memory.facts.catch_up()
        assert values(file) == sorted(str(one.value) for one in memory.facts.list())


YEAR = {year: datetime(year, 1, 1, tzinfo=UTC) for year in range(2018, 2027)}


def file_rows(config: MemoryConfig, query: str = "SELECT id, value FROM facts") -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(Path(config.save_dir) / "facts.db")
    rows = connection.execute(query).fetchall()
    connection.close()
    return rows


def test_a_fact_is_a_memory_with_three_parts(memory: NeuroGraphMemory) -> None:
    said = datetime(2026, 5, 4, tzinfo=UTC)
    fact_id = memory.facts.add(" Ana ", "city", "Lyon", user_id="ana", timestamp=said, metadata={"by": "form"})
    node = memory.get(fact_id)
    assert (node.kind, node.content, node.scope.user_id) == ("fact", "Ana city: Lyon", "ana")
    assert node.found.statement == Statement("Ana", "city", "Lyon")
    assert (node.timestamp, dict(node.metadata)) == (said, {"by": "form"})
    (fact,) = memory.facts.list(user_id="ana")
    assert isinstance(fact, Fact)
    assert (fact.id, fact.statement, fact.scope) == (fact_id, node.content, node.scope)
    assert (fact.subject, fact.attribute, fact.value, fact.confidence) == ("Ana", "city", "Lyon", 1.0)


@pytest.mark.parametrize(
    "arguments",
    [("", "city", "Lyon"), ("Ana", " ", "Lyon"), ("Ana", "city", ""), ("Ana", "city", None), ("Ana", "city", ["Lyon"]),
     ("Ana", 5, "Lyon")],
)  # fmt: skip
def test_a_fact_without_parts_is_refused(memory: NeuroGraphMemory, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(InputError):
        memory.facts.add(*arguments)
    assert memory.count() == 0


def test_a_whole_number_is_one_value_with_and_without_a_point(memory: NeuroGraphMemory) -> None:
    assert memory.facts.add("Ana", "age", 34) == memory.facts.add("Ana", "age", 34.0)
    assert memory.facts.add("Ana", "debt", -0.0) == memory.facts.add("Ana", "debt", 0)
    for value, said in ((True, "true"), (2.5, "2.5"), (1e300, "1e+300"), (2**70, str(2**70))):
        memory.facts.add("Ben", said, value)
    assert [fact.value for fact in memory.facts.list()] == ["34", "0", "true", "2.5", "1e+300", str(2**70)]


def test_facts_are_found_by_name_and_time(memory: NeuroGraphMemory) -> None:
    memory.facts.add("Ana", "city", "Paris", valid_from=YEAR[2018], valid_to=YEAR[2020])
    memory.facts.add("Ana", "city", "Lyon", valid_from=YEAR[2020])
    memory.facts.add("Ana", "age", 34)
    memory.facts.add("Bob", "city", "Rome")
    memory.add("Ana likes the city of Lyon.")

    def values(*names: str, **options: Any) -> list[str | None]:  # noqa: ANN401
        return [fact.value for fact in memory.facts.list(*names, **options)]

    assert values() == ["Paris", "Lyon", "34", "Rome"]
    assert values("ana") == ["Paris", "Lyon", "34"]
    assert values("Ana", "CITY") == ["Paris", "Lyon"]
    assert values("Ana", "city", valid_at=YEAR[2019]) == ["Paris"]
    assert values("Ana", "city", valid_at=YEAR[2025]) == ["Lyon"]
    assert values("Nobody") == []


def test_a_corrected_fact_keeps_its_subject_and_attribute(memory: NeuroGraphMemory) -> None:
    fact_id = memory.facts.add("Ana", "city", "Lyon")
    memory.update(fact_id, metadata={"seen": 1})
    memory.update(fact_id, "Ana city: York")
    (fact,) = memory.facts.list()
    assert (fact.statement, fact.subject, fact.attribute, fact.value) == ("Ana city: York", "Ana", "city", "York")
    assert memory.get(fact_id).found.names == ("Ana",)
    with pytest.raises(InputError):
        memory.update(fact_id, "Ana left Lyon.")
    assert memory.facts.list() == [fact]


# Rows


@pytest.fixture
def on_disk(config: MemoryConfig) -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(config.replace(storage="sqlite")) as memory:
        yield memory


@pytest.mark.parametrize("is_closed", [True, False])
def test_rows_of_messages_are_written_together_and_without_another_call(
    config: MemoryConfig, read_by_model: Mapping[str, Any], *, is_closed: bool
) -> None:
    config = config_of(read_by_model, save_dir=config.save_dir)
    memory = NeuroGraphMemory(config)
    for place in ("Rome", "Oslo", "York"):
        memory.add(f"I live in {place}.", user_id=place)
    if is_closed:
        memory.close()
    for thread in threading.enumerate():
        if thread.name == "neurogated-facts":
            thread.join()
    assert {value for _, value in file_rows(config)} == {"Rome", "Oslo", "York"}
    memory.close()


def test_a_server_that_is_away_stops_no_write(
    config: MemoryConfig, postgres: "Postgres", caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outage, "RETRY_SECONDS", 0.0)
    url = postgres.database()
    monkeypatch.setattr(compose, "FACTS_SECONDS", 2.0)
    with NeuroGraphMemory(config.replace(metabolism={"facts_url": url})) as memory:
        memory.facts.add("Ana", "city", "Lyon")
        postgres.stop()
        try:
            with caplog.at_level(logging.WARNING):
                memory.facts.add("Ana", "city", "Paris")
                fact_id = memory.facts.add("Ana", "city", "Rome")
                memory.delete(fact_id)
            (warning,) = [record.getMessage() for record in caplog.records if "facts" in record.getMessage()]
            assert "the memory is complete without it" in warning
            assert [fact.value for fact in memory.facts.list()] == ["Lyon", "Paris"]
            with pytest.raises(StorageError):
                memory.facts.catch_up()
        finally:
            postgres.start()
        assert memory.facts.catch_up() == 1
        assert memory.facts.catch_up() == 0
        fact_id = memory.facts.add("Ana", "city", "Oslo")
        assert fact_id.encode() in postgres.dump(url)


def test_ids_of_facts_cannot_be_taken_or_guessed(memory: NeuroGraphMemory) -> None:
    known = memory.facts.add("Ana", "diagnosis", "flu", user_id="ana")
    memory.delete(memory.facts.add("Ana", "diagnosis", "cold", user_id="ana"))
    messages = set()
    for taken in (known, "fact-" + "0" * 32):
        with pytest.raises(InputError) as caught:
            memory.add("A note.", id=taken, user_id="bob")
        messages.add(str(caught.value).replace(taken, "ID"))
    assert len(messages) == 1
    with pytest.raises(InputError):
        memory.add("Ana has the flu.", id=known, user_id="ana")


def test_compaction_says_when_rows_of_erased_facts_may_remain(on_disk: NeuroGraphMemory) -> None:
    for number in range(20):
        on_disk.facts.add("Ana", f"key {number}", "secret " + "x" * 1000, user_id="ana")
    reader = sqlite3.connect(Path(on_disk.config.save_dir) / "facts.db")
    cursor = reader.execute("SELECT statement FROM facts")
    cursor.fetchone()
    on_disk.delete(user_id="ana")
    with pytest.raises(StorageError):
        on_disk.admin.compact(history=True)
    cursor.close()
    reader.close()
    on_disk.admin.compact(history=True)
    assert file_rows(on_disk.config) == []
