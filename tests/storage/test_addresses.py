"""Names in the addresses of databases: none that a server would cut, since two of them could be one memory."""

import pytest

from neurogated.errors import ConfigError
from neurogated.projections.database import Database
from neurogated.storage.log.neo4j.address import Address as Neo4jAddress
from neurogated.storage.log.postgres.server import Address

LONG = "tenant_" + "x" * 57


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://host/database?schema={LONG}",
        f"postgresql://host/database?schema={'é' * 32}",
        f"postgresql://host/database?options=-c%20search_path%3D{LONG}",
        f"postgresql://host/{LONG}",
        f"postgresql://{LONG}@host/database",
    ],
)
def test_postgresql_refuses_a_name_that_the_server_would_cut(url: str) -> None:
    with pytest.raises(ConfigError, match=r"63 bytes of a name.*shorten it"):
        Address(url)


def test_a_name_of_63_bytes_is_taken() -> None:
    assert Address(f"postgresql://host/database?schema={LONG[:63]}").schema == LONG[:63]
    assert Address(f"postgresql://host/database?schema={'é' * 31}").schema == "é" * 31


def test_schemas_in_the_options_are_told_apart_to_their_ends() -> None:
    first, second = (Address(f"postgresql://h/d?options=-c%20search_path%3Dtenant-{name}").schema for name in "ab")
    assert (first, second) == ("tenant-a", "tenant-b")
    assert Address('postgresql://h/d?options=-csearch_path%3D"my%20schema",public').schema == "my schema"
    with pytest.raises(ConfigError, match=r"\?schema=NAME"):
        Address("postgresql://h/d?options=-csearch_path%3Dmy\\%20schema")


def test_neo4j_refuses_a_database_that_no_server_can_have() -> None:
    with pytest.raises(ConfigError, match="shorten it"):
        Neo4jAddress.of(f"bolt://host/{LONG}", {})
    # The name of a memory is a value, which no server cuts.
    assert Neo4jAddress.of(f"bolt://host/d?memory={LONG}", {}).memory == LONG


def test_the_table_of_facts_refuses_a_database_whose_name_would_be_cut() -> None:
    with pytest.raises(ConfigError, match="shorten it"):
        Database(f"postgresql://host/{LONG}", 1.0, "facts")
