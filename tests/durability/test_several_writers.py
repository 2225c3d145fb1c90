"""Several processes, threads and memories that write to one folder at the same time."""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from neurogated import MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.config.groups import IndexingSettings
from neurogated.errors import MemoryLockedError
from neurogated.session import runtime
from neurogated.storage.sqlite_store import SqliteStore
from tests.knowledge.model_server import erased

COMPANION = Path(__file__).with_name("companion.py")
WRITERS = 4
KILLS = 3

LONG = [pytest.mark.slow, pytest.mark.nightly]


@pytest.fixture
def config(tmp_path: Path) -> MemoryConfig:
    return MemoryConfig(save_dir=str(tmp_path), embedding_name="hash", indexing=IndexingSettings(chunk_size=8))


def _node(name: str, *vector: float) -> MemoryNode:
    return MemoryNode(id=name, content=f"text of {name}", embedding=vector or [1.0, 2.0])


class _Writer:
    """A companion process and its acknowledged memories."""

    def __init__(self, folder: Path, name: str) -> None:
        self.stored: set[str] = set()
        self._command = [sys.executable, str(COMPANION), str(folder), name]

    def start(self, count: int) -> None:
        self.process = subprocess.Popen([*self._command, str(count)], stdout=subprocess.PIPE, text=True)
        self._reader = threading.Thread(target=self._read, args=(self.process,), daemon=True)
        self._reader.start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                if line.endswith("\n"):
                    self.stored.update(line.split()[1:])

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()

    def wait_for_more(self, count: int) -> None:
        """Wait for acknowledgements of this many more memories."""
        wanted = len(self.stored) + count
        while len(self.stored) < wanted:
            assert self.process.poll() is None, "it ended before it could be killed"
            time.sleep(0.01)

    def finish(self) -> int:
        code = self.process.wait(timeout=300)
        self._reader.join()
        return code


def _watch(folder: Path, stop: threading.Event) -> int:
    """Read beside the writers. Return the number of states seen, each with complete documents only."""
    seen = 0
    while not (folder / "memory" / "memory.db").exists():
        time.sleep(0.01)
    with NeuroGraphMemory(MemoryConfig(save_dir=str(folder), embedding_name="hash", read_only=True)) as memory:
        while not stop.is_set():
            chunks: dict[str, int] = {}
            view = memory.store.view()
            nodes = memory.store.get_nodes([view.ids[row] for row in view.live_nodes().tolist()])
            for node in nodes:
                name = str(node.found.document_id)
                chunks[name] = chunks.get(name, 0) + 1
            assert set(chunks.values()) <= {CHUNKS}, "a part of a document is seen"
            seen += 1
            # Leave processor time to the writers.
            stop.wait(0.02)
    return seen


CHUNKS = 3
# A process that is to be killed has more to write than it can write until then.
ENDLESS = 1_000_000


@pytest.mark.parametrize("count", [10, pytest.param(150, marks=LONG)])
def test_processes_write_and_learn_at_once_and_nothing_acknowledged_is_lost(tmp_path: Path, count: int) -> None:
    folder = tmp_path
    with NeuroGraphMemory(MemoryConfig(save_dir=str(folder), embedding_name="hash")) as memory:
        # The trained judge of questions is saved beside the memory. Otherwise each process would train it.
        memory.recall("Who met heron 1?")
    writers = [_Writer(folder, name) for name in ("Ada", "Bo", "Cy", "Di")[:WRITERS]]
    *others, victim = writers
    for writer in others:
        writer.start(count)
    victim.start(ENDLESS)
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(_watch, folder, stop)
        try:
            for number in range(1, KILLS + 1):
                # Kill it during its work, not during its start.
                victim.wait_for_more(count * CHUNKS // (KILLS + 1))
                victim.kill()
                # The last document may be stored without an acknowledgement. The last process repeats it.
                victim.start(max(count, len(victim.stored) // CHUNKS + 1) if number == KILLS else ENDLESS)
            assert [writer.finish() for writer in writers] == [0] * WRITERS
        finally:
            stop.set()
            for writer in writers:
                writer.process.kill()
        assert watching.result(timeout=60) > 0
    stored = set().union(*(writer.stored for writer in writers))
    assert len(stored) >= WRITERS * count * CHUNKS
    with NeuroGraphMemory(MemoryConfig(save_dir=str(folder), embedding_name="hash")) as memory:
        assert {node.id for node in memory.store.all_nodes()} == stored
        assert memory.admin.check() == []


HOLD = """
import os, signal, sys
from neurogated import MemoryNode
from neurogated.storage.sqlite_store import SqliteStore
with SqliteStore.open(sys.argv[1]) as store, store.transaction():
    store.add_node(MemoryNode("half", "made by half", [1.0, 2.0]))
    print("holding", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks the system whether a process is stopped")
def test_a_stopped_writer_is_named_while_reads_go_on_and_a_killed_one_is_in_nobodys_way(
    config: MemoryConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config.replace(runtime={"write_lock_seconds": 0.3})
    monkeypatch.setattr(runtime, "ACCESS_FLUSH_SECONDS", 0.0)
    path = Path(config.save_dir) / "memory" / "memory.db"
    with NeuroGraphMemory(config.replace(embedding_name="hash")) as memory:
        (known,) = memory.add_document("A heron stood at the weir.")
    with SqliteStore.open(path) as store:
        (dimension,) = {len(node.embedding) for node in store.all_nodes() if node.embedding is not None}
    with NeuroGraphMemory(config) as memory:
        script = HOLD.replace("[1.0, 2.0]", f"[1.0] * {dimension}")
        process = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "holding\n"
            while "(stopped)" not in Path(f"/proc/{process.pid}/status").read_text(encoding="ascii"):
                time.sleep(0.01)
            assert memory.recall("Who stood at the weir?").ids == (known,)
            with pytest.raises(MemoryLockedError):
                memory.add_document("Another heron came.")
            assert memory.recall("Who stood at the weir?").ids == (known,)
        finally:
            process.kill()
            process.communicate()
        memory.add_document("Another heron came.")
        assert not memory.store.has_node("half")
        assert memory.admin.check() == []


def test_the_same_text_given_to_two_memories_is_stored_once(config: MemoryConfig) -> None:
    text = "Ada planted barley. Bo watered it. Cy sold it."
    with NeuroGraphMemory(config) as one, NeuroGraphMemory(config) as two, ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda memory: memory.add_document(text), (one, two))
        assert first == second
        assert [node.id for node in one.store.all_nodes()] == first


def test_a_memory_that_only_asked_brings_nothing_back_that_another_erased(config: MemoryConfig) -> None:
    config = config.replace(runtime={"checkpoint_changes": 1})
    with NeuroGraphMemory(config) as one:
        asks = NeuroGraphMemory(config)
        one.add_document("Barley was sown.")
        secret = one.add_document("The password is swordfish.")
        # It has the words in its indexes, and no write of its own.
        asks.learning.freeze()
        assert secret[0] in asks.recall("What is the password?").ids
        one.delete(secret)
        one.admin.compact()
    asks.close()
    assert erased(config.save_dir, b"swordfish")
    with NeuroGraphMemory(config) as memory:
        assert memory.retrieve("What is the password?") == ["Barley was sown."]
        assert memory.admin.check() == []


def test_a_memory_under_two_names_has_one_lock(tmp_path: Path) -> None:
    path, link = tmp_path / "memory.db", tmp_path / "elsewhere" / "memory.db"
    with SqliteStore.open(path) as one:
        link.parent.mkdir()
        link.symlink_to(path)
        with SqliteStore.open(link) as two:
            one.add_node(_node("a"))
            two.add_node(_node("b"))
            with one.exclusively(), pytest.raises(MemoryLockedError), two.exclusively(patience=0):
                pytest.fail("both write")
            assert len(one) == len(two) == 2


def test_a_lock_file_that_was_deleted_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore.open(path) as one:
        one.add_node(_node("a"))
        path.with_suffix(".lock").unlink()
        with SqliteStore.open(path) as two, two.exclusively():
            with pytest.raises(MemoryLockedError), one.exclusively(patience=0):
                pytest.fail("both write")
            two.add_node(_node("b"))
        one.add_node(_node("c"))
        assert len(one) == 3
        assert one.check() == []


def test_writes_of_another_memory_are_seen_during_a_checkpoint(config: MemoryConfig) -> None:
    config = config.replace(runtime={"checkpoint_changes": 1})
    with NeuroGraphMemory(config) as one, NeuroGraphMemory(config) as two:
        for number in range(40):
            one.add_document(f"Ada saw heron {number}.")
            ids = two.add_document(f"Bo saw heron {number}.")
            assert [node.id for node in one.store.get_nodes(ids)] == ids
