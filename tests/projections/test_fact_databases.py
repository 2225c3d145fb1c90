"""The table of facts shares databases, is rebuilt after losses, and leaves nothing half done."""

import itertools
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from neurogated.core.delta import GraphDelta
from neurogated.core.model import MemoryNode
from neurogated.core.scope import Scope
from neurogated.errors import ConfigError, StorageError
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


def test_rows_of_a_journal_that_was_set_back_are_rebuilt(table: FactTable, url: str) -> None:
    """A restored snapshot has the identity of the memory, but other changes under the same numbers."""
    with GraphStore() as store, GraphStore() as other:
        other.graph.family.engine.identity = store.identity[0]  # type: ignore[misc]
        store.apply(put(fact("f", "old")))
        other.apply(put(fact("g", "new")))
        other.apply(put(fact("h", "newer")))
        table.catch_up(store, "default")
        table.catch_up(other, "default")
        assert rows_in(url) == reference(other)
        table.catch_up(store, "default")
        assert rows_in(url) == reference(store)


def test_a_table_of_another_program_is_not_touched(table: FactTable, url: str, store: GraphStore) -> None:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE facts (mine TEXT)"))
        connection.execute(text("INSERT INTO facts VALUES ('precious')"))
    engine.dispose()
    store.apply(put(fact("f")))
    with pytest.raises(StorageError, match="without a table 'facts_progress'"):
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


def test_threads_that_catch_up_at_once_agree(table: FactTable, url: str, store: GraphStore) -> None:
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for number in range(8):
                store.apply(put(fact(f"{name}{number}")))
                table.catch_up(store, "default")
        except BaseException as error:  # noqa: BLE001 - shown by the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    table.catch_up(store, "default")
    assert rows_in(url) == reference(store)


_CHILD = """
import sys
from neurogated import MemoryConfig, NeuroGraphMemory
config = MemoryConfig(save_dir=sys.argv[1], embedding_name="hash", metabolism={"facts_url": sys.argv[2]})
with NeuroGraphMemory(config) as memory:
    for number in range(100_000):
        memory.add_fact("Ana", "number", number)
        if number % 3 == 2:
            memory.delete(memory.facts()[0].id)
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
        memory.catch_up_facts()
        assert {row["id"] for row in rows_in(url)} == {fact.id for fact in memory.facts()}
        memory.catch_up_facts()
        assert isinstance(memory.store, GraphStore)
        assert rows_in(url) == reference(memory.store)


def test_a_damaged_file_of_the_memory_is_rebuilt(tmp_path: Path, store: GraphStore) -> None:
    file = tmp_path / "facts.db"
    store.apply(put(fact("f")))
    for content in (b"no database at all" * 100, b""):
        file.write_bytes(content)
        FactTable(file, seconds=5.0).catch_up(store, "default")
        assert rows_in(f"sqlite:///{file}") == reference(store)
    # A file that the user named is not deleted.
    file.write_bytes(b"no database at all" * 100)
    with pytest.raises(StorageError, match="not a database"):
        FactTable(f"sqlite:///{file}", seconds=5.0).catch_up(store, "default")
    assert file.read_bytes().startswith(b"no database")


def test_the_file_of_a_memory_loses_the_rows_of_the_memory_before(tmp_path: Path, store: GraphStore) -> None:
    file = tmp_path / "facts.db"
    with GraphStore() as former:
        former.apply(put(fact("old")))
        FactTable(file, seconds=5.0).catch_up(former, "default")
    store.apply(put(fact("new")))
    FactTable(file, seconds=5.0).catch_up(store, "default")
    assert [row["id"] for row in rows_in(f"sqlite:///{file}")] == ["new"]


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


@pytest.mark.parametrize("url", ["mysql://host/db", "nonsense", "://", ""])
def test_an_url_of_another_kind_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="facts_url must be"):
        FactTable(url, seconds=5.0)


def test_messages_have_no_password(store: GraphStore) -> None:
    table = FactTable("postgresql://ana:tiger@127.0.0.1:9/none", seconds=1.0)
    with pytest.raises(StorageError) as caught:
        table.catch_up(store, "default")
    assert "tiger" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)


def test_a_locked_database_is_an_error_in_time(tmp_path: Path, store: GraphStore) -> None:
    url = f"sqlite:///{tmp_path}/facts.db"
    table = FactTable(url, seconds=0.2)
    store.apply(put(fact("f")))
    table.catch_up(store, "default")
    other = sqlite3.connect(tmp_path / "facts.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    store.apply(put(fact("g")))
    with pytest.raises(StorageError, match="locked"):
        table.catch_up(store, "default")
    other.execute("ROLLBACK")
    other.close()
    assert table.catch_up(store, "default") == 1
