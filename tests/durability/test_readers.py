"""Processes that read beside a writer that is killed and restarted."""

import subprocess
import sys
import threading
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


def test_a_snapshot_while_another_thread_writes_is_a_state_that_was(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "memory.db") as store:
        store.apply(pair(0))
        enough = threading.Event()

        def write() -> None:
            number = 1
            while not enough.is_set():
                store.apply(pair(number))
                number += 1

        thread = threading.Thread(target=write)
        thread.start()
        try:
            for number in range(8):
                store.snapshot(tmp_path / f"{number}.snapshot")
                assert store.namespaces() == ["default"]
        finally:
            enough.set()
            thread.join()
        for number in range(8):
            with SqliteStore.open(tmp_path / f"{number}.snapshot") as copy:
                assert copy.check() == []
                then = store.as_of(copy.view().sequence)
                assert list(copy.all_nodes()) == list(then.all_nodes())
                assert list(copy.all_edges()) == list(then.all_edges())
