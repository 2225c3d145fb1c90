"""Names in the addresses of databases: none that a server would cut, since two of them could be one memory."""

import pytest

from neurogated.errors import ConfigError
from neurogated.storage.log.neo4j.connection import BoltAddress
from neurogated.storage.log.postgres.server import PostgresAddress

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
        PostgresAddress(url)


def test_neo4j_refuses_a_database_that_no_server_can_have() -> None:
    with pytest.raises(ConfigError, match="shorten it"):
        BoltAddress.of(f"bolt://host/{LONG}", {})
    # The name of a memory is a value, which no server cuts.
    assert BoltAddress.of(f"bolt://host/d?memory={LONG}", {}).memory == LONG
