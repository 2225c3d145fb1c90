"""The real servers of the projections."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from neurogated.projections.fact_table import FactTable
from neurogated.storage.graph_store import GraphStore


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
