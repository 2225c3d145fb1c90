"""LangGraph's own tests of its stores, run over ours. They are fetched from its source packages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

PACKAGES = [
    ("langgraph-checkpoint==4.3.2", ["test_store.py"], 117),
    pytest.param(
        "langgraph-checkpoint-sqlite==3.1.2",
        ["test_store.py", "test_async_store.py", "test_ttl.py"],
        153,
        marks=pytest.mark.nightly,
    ),
    pytest.param(
        "langgraph-checkpoint-postgres==3.2.0", ["test_store.py", "test_async_store.py"], 299, marks=pytest.mark.nightly
    ),
]
EXCUSED = {
    # It reads the tables of SQLite's vector search.
    "test_vector_store_initialization": 1,
    # It counts the connections to a server.
    "test_abatch_uses_single_pool_checkout": 1,
    # No call of our stores finds an expired item, as if `omit_expired` were always set.
    "test_omit_expired_disabled_preserves_expired_rows": 12,
    # It reads the row of an expired item.
    "test_omit_expired_refresh_ttl_only_refreshes_live_rows": 6,
    # It expects an item to be gone 4 seconds after a read that has refreshed its 5 seconds.
    "test_ttl_override_default": 1,
}


def fetched(package: str, folder: Path) -> Path:
    """Return the folder with the tests of a source package."""
    options = ["--no-deps", "--no-build-isolation", "--no-binary", ":all:", "--dest", str(folder), "--quiet"]
    loading = subprocess.run(
        [sys.executable, "-m", "pip", "download", *options, package], capture_output=True, text=True, check=False
    )
    if loading.returncode and not os.environ.get("CI"):
        pytest.skip(f"the package index is away: {loading.stderr.strip().splitlines()[-1]}")
    assert loading.returncode == 0, loading.stderr
    (file,) = folder.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        wanted = [one for one in archive.getmembers() if one.name.split("/")[1] in {"tests", "pyproject.toml"}]
        archive.extractall(folder, wanted, filter="data")
    (found,) = folder.glob("langgraph*/")
    found.joinpath("conftest.py").write_bytes(Path(__file__).with_name("their_conftest.py").read_bytes())
    return found


def outcomes(folder: Path, files: list[str]) -> tuple[int, list[str]]:
    """Run tests; return how many pass, and the names of those that fail."""
    quiet = ["-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-W", "ignore"]
    command = [sys.executable, "-m", "pytest", *quiet, *(f"tests/{name}" for name in files)]
    # Texts without meaning need no model.
    environment = {**os.environ, "NEUROGATED_EMBEDDING_NAME": "hash"}
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed, ran.stdout[-2000:] + ran.stderr[-2000:]
    return int(passed[1]), re.findall(r"^(?:FAILED|ERROR) tests/\S+::(\w+)", ran.stdout, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("package", "files", "count"), PACKAGES)
def test_the_stores_pass_the_tests_of_langgraph(package: str, files: list[str], count: int, tmp_path: Path) -> None:
    passed, failed = outcomes(fetched(package, tmp_path), files)
    unexcused = [name for name in failed if failed.count(name) > EXCUSED.get(name, 0)]
    assert unexcused == []
    assert passed + len(failed) == count
