"""Tests and the processes that they start share the modules of this folder."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres_server import Postgres

ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
CANNOT_MOUNT = "needs the right to mount a file system: run as root"


@pytest.fixture
def server() -> Iterator[Postgres]:
    """Return a server that may be killed."""
    with tempfile.TemporaryDirectory(prefix="postgres") as folder:
        server = Postgres(Path(folder))
        yield server
        server.close()


@pytest.fixture
def mounted(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes, or of its parameter, that can be filled and made read-only."""
    folder = tmp_path / "mounted"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={getattr(request, 'param', 2)}m", "tmpfs", str(folder)]
    possible = os.geteuid() == 0 and shutil.which("mount") and not subprocess.run(mount, check=False).returncode
    if not possible:
        if "CI" in os.environ:
            pytest.fail(CANNOT_MOUNT)
        pytest.skip(CANNOT_MOUNT)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
