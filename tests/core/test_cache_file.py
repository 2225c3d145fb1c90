"""A cache file forgets what is damaged and what exceeds its bound, and never returns a value that was not put in."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from neurogated.core.abilities import SupportsClear
from neurogated.core.files import CacheFile

# Values of several pages, of a few bytes, and of none.
VALUES = {f"key {n}".encode(): f"<{n}>".encode() * (0, 1, 60, 1500)[n % 4] for n in range(40)}
SECRET = b"<37>"
ROOM = 2**30

WRITER = """
import os, signal, sys
from pathlib import Path
from neurogated.core.files import CacheFile

cache = CacheFile(Path(sys.argv[1]), 2**30)
for n in range(40):
    cache.put({f"key {n}".encode(): f"<{n}>".encode() * (0, 1, 60, 1500)[n % 4]})
    if n == 25:
        cache._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
os.kill(os.getpid(), signal.SIGKILL)
"""


def kept(cache: CacheFile) -> dict[bytes, bytes]:
    return cache.get(VALUES, bytes)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "answers.db"


@pytest.fixture
def cache(path: Path) -> Iterator[CacheFile]:
    with closing(CacheFile(path, ROOM)) as opened:
        yield opened


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of a cache whose process was killed."""
    folder = tmp_path_factory.mktemp("killed") / "cache"
    done = subprocess.run([sys.executable, "-c", WRITER, str(folder / "answers.db")], check=False)
    assert done.returncode == -signal.SIGKILL
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert set(files) == {"answers.db", "answers.db-wal", "answers.db-shm"}
    return files


def lay_out(files: dict[str, bytes], folder: Path) -> Path:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder / "answers.db"


def test_values_survive_reopening_and_a_kill(left_behind: dict[str, bytes], tmp_path: Path) -> None:
    with closing(CacheFile(lay_out(left_behind, tmp_path / "copy"), ROOM)) as cache:
        assert kept(cache) == VALUES
        assert cache.get([b"other"], bytes) == {}


def _damaged(content: bytes, kind: str, chance: random.Random) -> bytes:
    if kind == "cut":
        return content[: chance.randrange(len(content))]
    changed = bytearray(content)
    # Half of the flips hit the first bytes, which define the meaning of all others.
    reach = chance.choice((120, len(changed)))
    for _ in range(1 if kind == "bit" else 20):
        changed[chance.randrange(reach)] ^= 1 << chance.randrange(8)
    return bytes(changed)


@pytest.mark.parametrize("kind", ["bit", "bits", "cut"])
@pytest.mark.parametrize("name", ["answers.db", "answers.db-wal", "answers.db-shm"])
def test_a_damaged_file_gives_the_right_value_or_none_and_stores_new_values(
    name: str, kind: str, left_behind: dict[str, bytes], tmp_path: Path
) -> None:
    chance = random.Random(f"{name} {kind}")
    for number in range(10):
        files = {**left_behind, name: _damaged(left_behind[name], kind, chance)}
        with closing(CacheFile(lay_out(files, tmp_path / str(number)), ROOM)) as cache:
            found = kept(cache)
            assert found.items() <= VALUES.items()
            cache.put({key: value for key, value in VALUES.items() if key not in found})
            assert kept(cache).items() <= VALUES.items()
            # The cache dropped the damage that it found, or rebuilt the file. The second time there is no damage left.
            cache.put(VALUES)
            assert kept(cache) == VALUES


# Emptied


def _bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


def test_nothing_cleared_is_left_on_disk(cache: CacheFile, path: Path) -> None:
    assert isinstance(cache, SupportsClear)
    cache.put(VALUES)
    cache.remove([b"key 1"])
    assert SECRET in _bytes_of(path.parent)

    cache.clear()

    assert SECRET not in _bytes_of(path.parent)
    assert b"key 37" not in _bytes_of(path.parent)
    assert kept(cache) == {}
    cache.put(VALUES)
    assert kept(cache) == VALUES


def test_values_computed_before_a_clearing_are_not_stored_after_it(cache: CacheFile, path: Path) -> None:
    since = cache.epoch()
    with closing(CacheFile(path, ROOM)) as other:
        other.clear()
    cache.put(VALUES, since)
    assert kept(cache) == {}
    assert SECRET not in _bytes_of(path.parent)
    cache.put(VALUES, cache.epoch())
    assert kept(cache) == VALUES


def test_values_of_a_killed_process_are_cleared_too(left_behind: dict[str, bytes], tmp_path: Path) -> None:
    assert SECRET in left_behind["answers.db-wal"]
    with closing(CacheFile(lay_out(left_behind, tmp_path / "copy"), ROOM)) as cache:
        cache.clear()
        assert SECRET not in _bytes_of(tmp_path / "copy")
        assert kept(cache) == {}


# Bounded

BOUND, VALUE = 400_000, b"v" * 1_500


def size(path: Path) -> int:
    """Return the size of the file after a checkpoint of its write-ahead log."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.stat().st_size


def test_the_file_stays_within_its_bound_and_keeps_the_newest(path: Path) -> None:
    keys = [f"key {number}".encode() for number in range(1_000)]
    with closing(CacheFile(path, BOUND)) as cache:
        for number, key in enumerate(keys):
            cache.put({key: VALUE})
            assert number % 100 or path.stat().st_size <= BOUND + len(VALUE) * 10
        found = [key for key in keys if cache.get([key], bytes)]
    assert found == keys[-len(found) :]
    assert size(path) <= BOUND
    # Values use most of the room.
    assert len(found) * len(VALUE) > BOUND / 2
