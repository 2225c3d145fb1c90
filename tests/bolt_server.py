"""A real server that speaks Bolt: ArcadeDB, in a process of its own."""

import socket
import subprocess
import sys
from pathlib import Path

# The server itself writes to the standard output, too.
_SERVE = """
import os, sys

from arcadedb_embedded.server import ArcadeDBServer

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
folder, bolt, http, password = sys.argv[1:]
plugins = "Bolt:com.arcadedb.bolt.BoltProtocolPlugin"
ports = {"bolt_port": int(bolt), "http_port": http}
config = {**ports, "server_plugins": plugins, "server_defaultDatabases": "tests[root]"}
server = ArcadeDBServer(folder, password, config, {"heap_size": "1g"})
server.start()
print("started", file=answers, flush=True)
sys.stdin.read()
os._exit(0)
"""


class BoltServer:
    """A server that tests may kill and start again."""

    password = "only-for-tests"  # noqa: S105 - the server listens on this machine only

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log = folder / "bolt.log"
        self._process: subprocess.Popen[str] | None = None
        self._memories = 0
        self.port, self._http = _free_port(), _free_port()

    def url(self) -> str:
        """Return the URL of a new memory."""
        self._memories += 1
        return f"bolt://root:{self.password}@localhost:{self.port}/tests?memory=tests-{self._memories}"

    def start(self) -> None:
        arguments = (str(self._folder), str(self.port), str(self._http), self.password)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _SERVE, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=self._folder,
            )
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            self.kill()
            raise RuntimeError(f"the server did not start: {self._log.read_text()}")

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.communicate()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])
