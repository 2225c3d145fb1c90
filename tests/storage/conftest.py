"""A test with the fixture `open_store` runs on each store."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from neurogated import GraphStore
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.testing import ManualClock
from tests.postgres_server import Postgres

# Tests of this folder share its modules.
ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

OpenStore = Callable[[], GraphStore]


@pytest.fixture
def url(postgres: Postgres) -> str:
    """Return the URL of an empty database."""
    return postgres.database()


@pytest.fixture(params=["memory", "sqlite"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock, small_overlay: None) -> OpenStore:  # noqa: ARG001 - graphs of this store have it
    """Return a function that creates an empty store."""
    made: list[None] = []

    def make() -> GraphStore:
        made.append(None)
        if request.param == "memory":
            return GraphStore(clock=clock)
        return SqliteStore.open(tmp_path / f"{len(made)}.db", clock=clock)

    return make


@pytest.fixture
def store(open_store: OpenStore) -> Iterator[GraphStore]:
    with open_store() as opened:
        yield opened
