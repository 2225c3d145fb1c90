"""Tests and the processes that they start share the modules of this folder."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres_server import Postgres

ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)


@pytest.fixture
def server() -> Iterator[Postgres]:
    """Return a server that may be killed."""
    with tempfile.TemporaryDirectory(prefix="postgres") as folder:
        server = Postgres(Path(folder))
        yield server
        server.close()
