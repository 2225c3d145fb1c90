"""Processes that read beside a writer that is killed and restarted."""

import subprocess
import sys
from pathlib import Path

import pytest

from neurogated.errors import MemoryLockedError
from neurogated.storage.sqlite_store import SqliteStore
from tests.durability.contents import environment
from tests.durability.reader import look
from tests.durability.writer import pair

HERE = Path(__file__).parent

LONG = [pytest.mark.slow, pytest.mark.nightly]


def _start(script: str, *words: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(HERE / script), *map(str, words)]
    return subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("pairs", [45, pytest.param(400, marks=LONG)])
def test_readers_never_see_half_a_change(tmp_path: Path, pairs: int) -> None:
    path, stop = tmp_path / "memory.db", tmp_path / "stop"
    with SqliteStore.open(path) as store:
        store.apply(pair(0))
    readers = [_start("reader.py", path, stop) for _ in range(3)]
    first = 1
    for last in (pairs // 2, pairs):
        with _start("writer.py", path, first) as writer:
            assert writer.stdout is not None
            for line in writer.stdout:
                first = int(line) + 1
                if first == last - 3:
                    with pytest.raises(MemoryLockedError):
                        SqliteStore.open(path, from_scratch=True)
                if first >= last:
                    writer.kill()
        # The write in flight may have been committed as well.
        with SqliteStore.open(path, read_only=True) as store:
            first += store.has_node(f"l{first}")
    with SqliteStore.open(path) as store:
        assert store.check() == []
        state = look(store), store.view().sequence
    stop.touch()
    for reader in readers:
        said, failed = reader.communicate(timeout=60)
        assert reader.returncode == 0, failed
        looks, *seen = map(int, said.split())
        assert looks > 0
        assert tuple(seen) == state
    for snapshot in tmp_path.glob("*.snapshot"):
        with SqliteStore.open(snapshot, read_only=True) as copy:
            assert copy.check() == []
            assert look(copy) > 0
