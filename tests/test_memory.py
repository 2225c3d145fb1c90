"""The facade: add, ask, close, and open again."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from neurogated import Document, GraphStore, MemoryConfig, NeuroGraphMemory, Passage
from neurogated.compose import Parts, build
from neurogated.embedding.hash_embedder import HashEmbedder
from neurogated.errors import ConfigError, EmbedderMismatchError, InputError, MemoryClosedError, StorageError
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.testing import ManualClock

STORY = (
    "The ferry left at dawn with forty crates of lamp oil.",
    "Fog closed the strait before noon and the pilots waited.",
    "The harbour master lit the second lantern by hand.",
)


@pytest.fixture
def timed(config: MemoryConfig, clock: ManualClock) -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(config, parts=build(config, clock)) as memory:
        yield memory


def test_added_texts_are_recalled(memory: NeuroGraphMemory) -> None:
    memory.add_documents(STORY)
    assert memory.retrieve("when did the ferry leave with lamp oil?", top_n=1) == [STORY[0]]
    recall = memory.recall("who lit the lantern?", top_n=3)
    assert recall[0].content == STORY[2]
    assert len(recall) == 3


@pytest.mark.parametrize("wrong", ["my_agent", {"save_dir": "my_agent"}, 3, MemoryConfig], ids=repr)
def test_a_configuration_of_another_type_is_refused(
    wrong: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        ConfigError, match=r"the config is .*, but must be a MemoryConfig, as in MemoryConfig\(save_dir="
    ):
        NeuroGraphMemory(wrong)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_retrieve_returns_the_configured_number_of_texts(memory: NeuroGraphMemory) -> None:
    memory.add_documents([f"fact number {number}" for number in range(10)])
    assert len(memory.retrieve("fact number 4")) == memory.config.TOP_N_RETRIEVAL


def test_tomorrow_everything_is_there_and_recalls_are_identical(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add_documents(
            [Document(tuple(map(Passage, STORY)), "The strait"), *(f"fact {n} of oil" for n in range(40))]
        )
        before = [memory.recall(f"{word} oil", top_n=10) for word in ("lamp", "fact", "fog")]
    with NeuroGraphMemory(config) as memory:
        after = [memory.recall(f"{word} oil", top_n=10) for word in ("lamp", "fact", "fog")]
    for one, other in zip(before, after, strict=True):
        assert one.ids == other.ids
        assert [(m.score, m.parts, m.path, m.content) for m in one] == [
            (m.score, m.parts, m.path, m.content) for m in other
        ]


def test_add_document_returns_ids_that_lead_to_the_text(memory: NeuroGraphMemory) -> None:
    ids = memory.add_document(STORY[0], title="Ferry", metadata={"timestamp": 3.0, "title": "mine"})
    node = memory.store.get_node(ids[0])
    assert node.content == STORY[0]
    assert node.title == "Ferry"
    assert (node.metadata["timestamp"], node.metadata["title"], node.timestamp) == (3.0, "mine", None)
    assert memory.add_document(STORY[0], title="Ferry") == ids


def test_documents_may_be_texts_documents_or_mappings(memory: NeuroGraphMemory) -> None:
    ids = memory.add_documents(
        [
            STORY[0],
            Document.from_text(STORY[1], title="Fog"),
            {"text": STORY[2], "title": "Lantern", "metadata": {"x": 1}},
        ]
    )
    assert [len(one) for one in ids] == [1, 1, 1]
    assert memory.store.get_node(ids[2][0]).metadata["x"] == 1


@pytest.mark.parametrize("bad", [" ", {"title": "no text"}, 42, {"text": 42}])
def test_a_bad_document_is_named_by_its_position(memory: NeuroGraphMemory, bad: object) -> None:
    with pytest.raises(InputError, match="document 1: "):
        memory.add_documents([STORY[0], bad])  # type: ignore[list-item]


def test_a_bar_is_shown_when_asked_for(memory: NeuroGraphMemory, capsys: pytest.CaptureFixture[str]) -> None:
    memory.add_documents(STORY, progress=True)
    assert "indexing: 100%" in capsys.readouterr().err
    memory.add_documents(STORY)
    assert capsys.readouterr().err == ""


def test_use_is_marked_now_and_then_and_on_close(timed: NeuroGraphMemory, clock: ManualClock) -> None:
    (first,) = timed.add_document(STORY[0])
    clock.advance(timedelta(seconds=1))
    timed.retrieve("ferry")
    assert timed.store.get_node(first).last_accessed < clock()
    clock.advance(timedelta(seconds=timed.config.learning.access_flush_seconds))
    timed.retrieve("ferry")
    assert timed.store.get_node(first).last_accessed == clock()
    clock.advance(timedelta(seconds=1))
    timed.retrieve("ferry")
    timed.close()
    with NeuroGraphMemory(timed.config) as again:
        assert again.store.get_node(first).last_accessed == clock()


def test_a_question_is_answered_when_use_cannot_be_marked(
    timed: NeuroGraphMemory, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    timed.add_document(STORY[0])

    def full(_: object) -> int:
        raise StorageError("disk full")

    monkeypatch.setattr(timed.store, "apply", full)
    clock.advance(timedelta(hours=1))
    assert timed.retrieve("ferry") == [STORY[0]]
    assert "disk full" in caplog.text
    monkeypatch.undo()


def test_namespaces_share_the_file_and_never_the_memories(memory: NeuroGraphMemory) -> None:
    other = memory.in_namespace("other")
    memory.add_document(STORY[0])
    other.add_document(STORY[1])
    assert memory.retrieve("ferry fog", top_n=9) == [STORY[0]]
    assert other.retrieve("ferry fog", top_n=9) == [STORY[1]]
    other.close()
    assert memory.retrieve("ferry", top_n=1) == [STORY[0]]


def test_the_same_namespace_is_one_graph(memory: NeuroGraphMemory) -> None:
    memory.in_namespace("x").add_document(STORY[0])
    assert memory.in_namespace("x").retrieve("ferry", top_n=1) == [STORY[0]]


def test_a_store_without_namespaces_says_so(config: MemoryConfig) -> None:
    class Single:
        """A store of one graph, as a third party may write it."""

        closed = True

    parts = Parts(Single(), HashEmbedder(), UniformKernelSource())  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="Single holds a single graph"):
        NeuroGraphMemory(config, parts=parts).in_namespace("x")


def test_parts_can_be_given(config: MemoryConfig) -> None:
    parts = Parts(GraphStore(), HashEmbedder(), UniformKernelSource())
    with NeuroGraphMemory(config, parts=parts) as memory:
        memory.add_document(STORY[0])
        assert memory.retrieve("ferry", top_n=1) == [STORY[0]]
    assert not Path(config.save_dir).exists()


def test_a_memory_in_memory_writes_nothing(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config.replace(storage="memory")) as memory:
        memory.add_documents(STORY)
        assert len(memory.retrieve("fog")) == 3
    assert not Path(config.save_dir).exists()


def test_another_embedder_is_refused_and_named(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add_document(STORY[0])
    with pytest.raises(EmbedderMismatchError, match=r"'hash-256' \(dimension 256\).*'all-MiniLM-L6-v2'"):
        NeuroGraphMemory(config.replace(embedding_name="all-MiniLM-L6-v2"))


def test_another_dimension_is_refused_and_named(config: MemoryConfig) -> None:
    class Wider(HashEmbedder):
        DIMENSION = dimension = 512

    with NeuroGraphMemory(config) as memory:
        memory.add_document(STORY[0])
        parts = Parts(memory.store, Wider(), UniformKernelSource())
        with pytest.raises(EmbedderMismatchError, match=r"dimension 256.*dimension 512"):
            NeuroGraphMemory(config, parts=parts).add_document(STORY[1])


def test_force_index_from_scratch_forgets_the_graph_and_keeps_the_vectors(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add_document(STORY[0])
    with NeuroGraphMemory(config.replace(force_index_from_scratch=True)) as memory:
        assert memory.retrieve("ferry") == []
    assert (Path(config.save_dir) / "embedding_cache.db").stat().st_size > 0


def test_a_closed_memory_says_so(memory: NeuroGraphMemory) -> None:
    memory.close()
    memory.close()
    with pytest.raises(MemoryClosedError):
        memory.add_document(STORY[0])


def test_without_a_config_the_environment_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEUROGATED_SAVE_DIR", str(tmp_path))
    monkeypatch.setenv("NEUROGATED_EMBEDDING_NAME", "hash")
    with NeuroGraphMemory() as memory:
        assert memory.config.save_dir == str(tmp_path)


def test_threads_share_a_memory(memory: NeuroGraphMemory) -> None:
    failures: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            for step in range(8):
                text = f"worker {worker} saw lantern {step}"
                memory.add_document(text)
                assert text in memory.retrieve(text, top_n=10)
        except BaseException as failure:  # noqa: BLE001 - carried to the main thread
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sum(1 for _ in memory.store.all_nodes()) == 32


_INDEXER = """
import sys
from neurogated import MemoryConfig, NeuroGraphMemory
memory = NeuroGraphMemory(MemoryConfig(save_dir=sys.argv[1], embedding_name="hash"))
for number in range(10_000):
    memory.add_document(f"Entry {number}. The keeper wrote it down. " * 30, title=f"Log {number}")
    print(number, flush=True)
"""


def test_a_killed_indexing_process_loses_nothing_acknowledged(config: MemoryConfig) -> None:
    command = [sys.executable, "-c", _INDEXER, config.save_dir]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stdout is not None
        last = -1
        for line in process.stdout:
            last = int(line)
            if last == 12:
                process.kill()
        process.wait()
    with NeuroGraphMemory(config) as memory:
        titles = {str(node.title) for node in memory.store.all_nodes()}
        assert {f"Log {number}" for number in range(last + 1)} <= titles
        before = memory.store.view().sequence
        ids = memory.add_documents(
            {"text": f"Entry {number}. The keeper wrote it down. " * 30, "title": f"Log {number}"}
            for number in range(last + 1)
        )
        assert memory.store.view().sequence == before, "an acknowledged delta is incomplete"
        assert len({node_id for one in ids for node_id in one}) == sum(map(len, ids))


def test_settings_that_do_not_fit_leave_no_lock_behind(tmp_path: Path) -> None:
    config = MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")
    for changes in ({"retrieval.closed_edge_types": "NONSENSE"}, {"retrieval.kernel_when": "SEQ=1, @tmie=1.0"}):
        with pytest.raises(ConfigError, match=next(iter(changes))) as caught:
            NeuroGraphMemory(config.replace(**changes))
        with NeuroGraphMemory(config) as memory:
            assert memory.recall("anything?").ids == ()
        assert caught.value.args


def test_a_recall_skips_memories_that_another_thread_rolls_back(tmp_path: Path) -> None:
    config = MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")
    with NeuroGraphMemory(config) as memory, ThreadPoolExecutor(2) as pool:
        memory.add_document("alpha text beta")
        done = threading.Event()

        def ask() -> int:
            rounds = 0
            while not done.is_set():
                assert len(memory.recall("alpha text beta newcomer", top_n=50)) >= 1
                rounds += 1
            return rounds

        asking = [pool.submit(ask) for _ in range(2)]
        for number in range(25):
            memory.add_document(f"alpha newcomer {number}")
            memory.undo()
        done.set()
        assert all(future.result() for future in asking)
