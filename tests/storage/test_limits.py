"""The limits of a store, which refuses the rest before it commits anything, and those of names in addresses."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from neurogated import Decay, EdgeKey, EdgeType, GraphDelta, MemoryEdge, MemoryNode, WeightChange
from neurogated.core.delta import PendingTask
from neurogated.errors import ConfigError, InputError
from neurogated.storage.log.neo4j.connection import BoltAddress
from neurogated.storage.log.postgres.server import PostgresAddress
from neurogated.storage.sqlite_store import SqliteStore

# The limits of a store. It refuses the rest before it commits anything


AT = datetime(2026, 1, 1, tzinfo=UTC)
SEQ = EdgeKey("a", "b", EdgeType.SEQ)
BASE = GraphDelta(
    nodes=(MemoryNode("a", "apple", [1, 0]), MemoryNode("b", "pear", [0, 1])), edges=(MemoryEdge(*SEQ, 0.5),), at=AT
)


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


def changed(value: object) -> MemoryNode:
    """Return a node whose metadata was changed after its validation."""
    node = MemoryNode("changed", "changed")
    node.metadata["value"] = value  # type: ignore[index]
    return node


def assert_opens_as_it_is(store: SqliteStore, path: Path) -> None:
    told = list(store.all_nodes()), list(store.all_edges()), store.pending()
    assert store.check() == []
    store.close()
    with SqliteStore.open(path) as again:
        assert (list(again.all_nodes()), list(again.all_edges()), again.pending()) == told
        assert again.check() == []
        again.compact()


UNFIT: dict[str, Callable[[], GraphDelta]] = {
    "content that is no text": lambda: GraphDelta(nodes=(MemoryNode("n", None),)),  # type: ignore[arg-type]
    "a number with too many digits": lambda: GraphDelta(nodes=(MemoryNode("n", "", metadata={"a": 10**5000}),)),
    "metadata nested deeply": lambda: GraphDelta(nodes=(MemoryNode("n", "", metadata={"a": nested(100)}),)),
    "metadata nested beyond recursion": lambda: GraphDelta(nodes=(MemoryNode("n", "", metadata={"a": nested(10**5)}),)),
    "metadata that became NaN": lambda: GraphDelta(nodes=(changed(float("nan")),)),
    "metadata that became a set": lambda: GraphDelta(nodes=(changed({1}),)),
    "metadata that became half a character": lambda: GraphDelta(nodes=(changed("\ud800"),)),
    "metadata that became too deep": lambda: GraphDelta(nodes=(changed(nested(10**5)),)),
    "a node without a time": lambda: GraphDelta(nodes=(MemoryNode("n", "", last_accessed=None),)),  # type: ignore[arg-type]
    "an edge without a time": lambda: GraphDelta(edges=(MemoryEdge("b", "a", EdgeType.SEQ, created_at=None),)),  # type: ignore[arg-type]
    "a time that is text": lambda: GraphDelta(weights=(WeightChange(SEQ, 0.5, "now"),)),  # type: ignore[arg-type]
    "a delta without a time": lambda: GraphDelta(nodes=(MemoryNode("n", ""),), at=None),  # type: ignore[arg-type]
    "an embedding of letters": lambda: GraphDelta(nodes=(MemoryNode("n", "", "ab"),)),  # type: ignore[arg-type]
    "an energy that is no number": lambda: GraphDelta(nodes=(MemoryNode("n", "", base_energy=None),)),  # type: ignore[arg-type]
    "a weight that is no number": lambda: GraphDelta(weights=(WeightChange(SEQ, None),)),  # type: ignore[arg-type]
    "a decay that is none": lambda: GraphDelta(operators=(Decay(float("nan"), AT),)),
    "a task about numbers": lambda: GraphDelta(queued=(PendingTask("cause", (1,)),)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("make", UNFIT.values(), ids=UNFIT)
def test_a_delta_that_cannot_be_stored_is_refused_completely(tmp_path: Path, make: Callable[[], GraphDelta]) -> None:
    store = SqliteStore.open(tmp_path / "memory.db")
    store.apply(BASE)
    with pytest.raises(InputError):
        store.apply(make())
    assert len(list(store.journal())) == 1
    assert_opens_as_it_is(store, tmp_path / "memory.db")


def test_vectors_of_a_file_have_one_length(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    longer = MemoryNode("n", "", [1, 2, 3])
    with SqliteStore.open(path) as store:
        store.apply(BASE)
        with pytest.raises(InputError):
            store.in_namespace("other").add_node(longer)
        store.apply(GraphDelta(removed_nodes=("a", "b")))
    # The past still has vectors.
    with SqliteStore.open(path) as store:
        with pytest.raises(InputError):
            store.add_node(longer)
        assert store.check() == []
        store.compact()
        store.in_namespace("other").add_node(longer)
        with pytest.raises(InputError):
            store.apply(BASE)
        assert store.check() == []


# Names in the addresses of databases: none that a server would cut, since two of them could be one memory


LONG = "tenant_" + "x" * 57


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://host/database?schema={LONG}",
        f"postgresql://host/database?schema={'é' * 32}",
        f"postgresql://host/{LONG}",
        f"postgresql://{LONG}@host/database",
    ],
)
def test_postgresql_refuses_a_name_that_the_server_would_cut(url: str) -> None:
    with pytest.raises(ConfigError, match=r"63 bytes of a name.*shorten it"):
        PostgresAddress(url)


@pytest.mark.parametrize("option", ["options=-c%20search_path%3Dother", "search=database"])
def test_postgresql_refuses_another_name_of_the_schema_and_an_unknown_option(option: str) -> None:
    with pytest.raises(ConfigError):
        PostgresAddress(f"postgresql://host/database?{option}")


def test_neo4j_refuses_a_database_that_no_server_can_have() -> None:
    with pytest.raises(ConfigError, match="shorten it"):
        BoltAddress.of(f"bolt://host/{LONG}", {})
    # The name of a memory is a value, which no server cuts.
    assert BoltAddress.of(f"bolt://host/d?memory={LONG}", {}).memory == LONG
