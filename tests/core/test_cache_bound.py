"""A cache file stays within its bound and evicts the least recently used values, also with several processes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from neurogated.core.files import CacheFile

BOUND = 400_000
VALUE = b"v" * 1_500

WRITER = """
import sys
from pathlib import Path
from neurogated.core.files import CacheFile

cache = CacheFile(Path(sys.argv[1]), int(sys.argv[2]))
print("ready", flush=True)
sys.stdin.readline()
for n in range(600):
    cache.put({f"{sys.argv[3]} {n}".encode(): b"v" * 1500})
cache.close()
"""


def key(number: int) -> bytes:
    return f"key {number}".encode()


def put(cache: CacheFile, numbers: Iterable[int]) -> None:
    for number in numbers:
        cache.put({key(number): VALUE})


def kept(cache: CacheFile, numbers: Iterable[int]) -> list[int]:
    return [number for number in numbers if cache.get([key(number)], bytes)]


def size(path: Path) -> int:
    """Return the size of the file after a checkpoint of its write-ahead log."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.stat().st_size


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache.db"


def test_the_file_stays_within_its_bound_and_keeps_the_newest(path: Path) -> None:
    with closing(CacheFile(path, BOUND)) as cache:
        for begin in range(0, 1_000, 100):
            put(cache, range(begin, begin + 100))
            assert path.stat().st_size <= BOUND + len(VALUE) * 10
        found = kept(cache, range(1_000))
    assert found == list(range(found[0], 1_000))
    assert size(path) <= BOUND
    # Values use most of the room.
    assert len(found) * len(VALUE) > BOUND / 2


def test_processes_that_share_a_file_keep_it_within_the_bound(path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(path), str(BOUND)]
    writers = [
        subprocess.Popen([*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in ("one", "two")
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    with closing(CacheFile(path, BOUND)) as cache:
        for writer in writers:
            writer.communicate("go\n")
            assert writer.returncode == 0
        assert cache.get([b"two 599"], bytes) == {b"two 599": VALUE}
        put(cache, [1])
        assert kept(cache, [1]) == [1]
        cache.clear()
        assert cache.get([b"two 599", key(1)], bytes) == {}
        assert VALUE not in b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert size(path) <= BOUND
