"""The table of facts shares databases, is rebuilt after losses, and leaves nothing half done."""

import itertools
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from neurogated.core.delta import GraphDelta
from neurogated.core.model import MemoryNode
from neurogated.core.scope import Scope
from neurogated.errors import StorageError
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


def test_a_table_of_another_program_is_not_touched(table: FactTable, url: str, store: GraphStore) -> None:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE facts (mine TEXT)"))
        connection.execute(text("INSERT INTO facts VALUES ('precious')"))
    engine.dispose()
    store.apply(put(fact("f")))
    with pytest.raises(StorageError):
        table.catch_up(store, "default")
    assert rows_in(url, "SELECT * FROM facts") == [{"mine": "precious"}]


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


_CHILD = """
import sys
from neurogated import MemoryConfig, NeuroGraphMemory
config = MemoryConfig(save_dir=sys.argv[1], embedding_name="hash", metabolism={"facts_url": sys.argv[2]})
with NeuroGraphMemory(config) as memory:
    for number in range(100_000):
        memory.facts.add("Ana", "number", number)
        if number % 3 == 2:
            memory.delete(memory.facts.list()[0].id)
        print(number, flush=True)
"""


def test_a_killed_process_leaves_rows_that_are_caught_up(url: str, tmp_path: Path) -> None:
    from neurogated import MemoryConfig, NeuroGraphMemory

    save_dir = str(tmp_path / "out")
    for stop in (5, 11):
        child = subprocess.Popen([sys.executable, "-c", _CHILD, save_dir, url], stdout=subprocess.PIPE)
        assert child.stdout is not None
        for _ in range(stop):
            child.stdout.readline()
        time.sleep(0.003 * stop)
        child.kill()
        child.wait()
        child.stdout.close()
    # The rows are a whole state of the past, and then the present one.
    known = rows_in(url, "SELECT id FROM facts")
    assert known
    with NeuroGraphMemory(
        MemoryConfig(save_dir=save_dir, embedding_name="hash", metabolism={"facts_url": url})  # type: ignore[arg-type]
    ) as memory:
        memory.facts.catch_up()
        assert {row["id"] for row in rows_in(url)} == {fact.id for fact in memory.facts.list()}
        memory.facts.catch_up()
        assert isinstance(memory.store, GraphStore)
        assert rows_in(url) == reference(memory.store)


def test_removed_words_leave_the_database(
    request: pytest.FixtureRequest, table: FactTable, url: str, store: GraphStore
) -> None:
    store.apply(put(fact("f", "quetzalcoatl", scope=Scope("xochitl")), fact("g")))
    table.catch_up(store, "default")

    def content() -> bytes:
        if url.startswith("sqlite"):
            return b"".join(file.read_bytes() for file in Path(url.removeprefix("sqlite:///")).parent.iterdir())
        return bytes(request.getfixturevalue("postgres").dump(url))

    assert b"quetzalcoatl" in content()
    store.apply(GraphDelta(removed_nodes=("f",)))
    table.catch_up(store, "default")
    assert b"quetzalcoatl" not in content()
    assert b"xochitl" not in content()
    assert b"Lyon" in content()


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
