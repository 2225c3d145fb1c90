"""Facts are memories: stated, found, corrected, undone, moved and erased like any other, and shown as rows."""

import logging
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core import outage
from neurogated.core.facts import Fact
from neurogated.core.found import Statement
from neurogated.errors import InputError, StorageError
from neurogated.session import compose
from tests.knowledge.plain_reader import config_of

if TYPE_CHECKING:
    from tests.postgres_server import Postgres

YEAR = {year: datetime(year, 1, 1, tzinfo=UTC) for year in range(2018, 2027)}


def rows_in(config: MemoryConfig, query: str = "SELECT id, value FROM facts") -> list[tuple[Any, ...]]:
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
    assert {value for _, value in rows_in(config)} == {"Rome", "Oslo", "York"}
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
    assert rows_in(on_disk.config) == []
