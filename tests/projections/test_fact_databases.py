"""The table of facts shares databases, is rebuilt after losses, and leaves nothing half done."""

import itertools
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from neurogated.core.delta import GraphDelta
from neurogated.core.model import MemoryNode
from neurogated.core.scope import Scope
from neurogated.projections.fact_table import FactTable
from neurogated.storage.graph_store import GraphStore
from tests.projections.rows import fact, put, reference, rows_in


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
