"""Nothing acknowledged is lost and nothing is stored twice when workers or the server are killed."""

import contextlib
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from graph_store_kit.histories import node
from neurogated.config.groups import RuntimeSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.delta import GraphDelta
from neurogated.errors import MemoryLockedError
from neurogated.storage.postgres_store import PostgresStore
from tests.postgres_server import Postgres

pytestmark = pytest.mark.slow

WRITER = Path(__file__).with_name("postgres_writer.py")
EACH = 200


def _started(url: str, name: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITER), url, name, str(EACH), str(folder / name)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _texts(store: PostgresStore) -> Counter[str]:
    return Counter(node.content for node in store.all_nodes())


def test_a_killed_worker_loses_nothing_that_it_acknowledged(postgres: Postgres, tmp_path: Path) -> None:
    url = postgres.database()
    chance = random.Random(7)
    expected, possible = set[str](), set[str]()
    for name in ("ana", "bob", "cyd"):
        with _started(url, name, tmp_path) as writer:
            assert writer.stdout is not None
            told = [writer.stdout.readline()]
            time.sleep(chance.random() / 4)
            writer.kill()
            told += writer.stdout.read().splitlines()
        stored = len([line for line in told if line.strip()])
        expected |= {f"{name} {number}" for number in range(stored)}
        possible.add(f"{name} {stored}")
    with PostgresStore.open(url) as store:
        texts = _texts(store)
        assert set(texts.values()) == {1}
        assert expected <= texts.keys() <= expected | possible
        assert store.check() == []


def test_a_worker_that_is_stopped_for_a_while_goes_on_and_loses_nothing(postgres: Postgres, tmp_path: Path) -> None:
    url = postgres.database()
    stored = set[str]()
    with _started(url, "ana", tmp_path) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        config = MemoryConfig(runtime=RuntimeSettings(write_lock_seconds=0.1))
        with PostgresStore.open(url, config=config) as store:
            for turn in range(20):
                writer.send_signal(signal.SIGSTOP if turn % 2 else signal.SIGCONT)
                # A worker that was stopped within a write has the lock.
                with contextlib.suppress(MemoryLockedError):
                    store.apply(GraphDelta(nodes=(node(f"{turn}", embedding=None),)))
                    stored.add(f"text of {turn}")
        writer.send_signal(signal.SIGCONT)
        writer.communicate()
    assert writer.returncode == 0
    with PostgresStore.open(url) as store:
        assert _texts(store) == Counter(stored | {f"ana {number}" for number in range(EACH)})
        assert store.check() == []


def test_a_dump_made_while_the_memory_is_in_use_restores_to_a_sound_memory(postgres: Postgres, tmp_path: Path) -> None:
    url, restored = postgres.database(), postgres.database()
    with PostgresStore.open(url) as store:
        store.apply(GraphDelta(nodes=(node("first", embedding=None),)))
        with _started(url, "ana", tmp_path) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            dump = postgres.dump(url)
            writer.communicate()
        identity = store.identity
    postgres.load(restored, dump)
    with PostgresStore.open(restored) as copy:
        assert copy.check() == []
        assert {"text of first", "ana 0"} <= _texts(copy).keys()
        assert copy.identity != identity
        copy.apply(GraphDelta(nodes=(node("last", embedding=None),)))
