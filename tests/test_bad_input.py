"""Input and places that cannot be: a clear error each, and nothing lost."""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from neurogated import MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.compose import Parts
from neurogated.embedding.hash_embedder import HashEmbedder
from neurogated.errors import InputError, MemoryLockedError, NeurogatedError, StorageError, UnknownIdError
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.storage.graph_store import GraphStore

GOOD = "The ferry left at dawn."


@pytest.fixture
def kept(memory: NeuroGraphMemory) -> NeuroGraphMemory:
    memory.add_document(GOOD)
    return memory


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty or blank"),
        (" \n\t\u3000", "empty or blank"),
        ("x" * 50_000_001, "50000001 characters"),
        ("a\0b", "NUL character at position 1"),
        ("lone \ud83d surrogate", "lone surrogate at position 5"),
        (b"bytes", "must be text, not bytes"),
        (None, "must be text, not NoneType"),
    ],
    ids=["empty", "blank", "50 MB", "NUL", "surrogate", "bytes", "None"],
)
def test_a_text_that_cannot_be_remembered_is_refused_and_nothing_is_lost(
    kept: NeuroGraphMemory, text: str, message: str
) -> None:
    before = kept.store.view().sequence
    with pytest.raises(InputError, match=message):
        kept.add_document(text)
    assert kept.store.view().sequence == before
    assert kept.retrieve("ferry") == [GOOD]


def test_a_text_just_within_the_limit_is_taken(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config.replace(MAX_DOCUMENT_CHARS=200_000)) as memory:
        assert memory.add_document("A word and another word. " * 8_000)


@pytest.mark.parametrize("metadata", [{"when": object()}, {"x": float("nan")}, {"x": "\ud800"}])
def test_metadata_that_is_no_json_is_refused(kept: NeuroGraphMemory, metadata: dict[str, object]) -> None:
    with pytest.raises(InputError, match="metadata"):
        kept.add_document("Another text.", metadata=metadata)
    assert len(list(kept.store.all_nodes())) == 1


def test_an_embedder_that_returns_nan_is_refused_and_nothing_is_stored() -> None:
    class Broken(HashEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.full((len(texts), self.DIMENSION), np.nan, dtype=np.float32)

    parts = Parts(GraphStore(), Broken(), UniformKernelSource())
    with NeuroGraphMemory(MemoryConfig(storage="memory"), parts=parts) as memory:
        with pytest.raises(InputError, match="nan at position 0"):
            memory.add_document(GOOD)
        assert memory.history() == []


def test_unknown_ids_are_named(kept: NeuroGraphMemory) -> None:
    calls: tuple[Callable[[str], object], ...] = (kept.store.get_node, lambda name: kept.feedback([name]))
    for call in calls:
        with pytest.raises(UnknownIdError, match="no node 'ghost'"):
            call("ghost")


def test_a_second_process_or_handle_cannot_write(kept: NeuroGraphMemory) -> None:
    with pytest.raises(MemoryLockedError, match=str(os.getpid())):
        NeuroGraphMemory(kept.config)
    assert kept.retrieve("ferry") == [GOOD]


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A memory that cannot be written: for root, whom no permission stops, on a disk mounted read-only."""
    folder = tmp_path / "disk"
    folder.mkdir()
    as_root = os.geteuid() == 0
    if (
        as_root
        and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)], check=False).returncode
    ):
        pytest.skip("root can write everywhere, and may not mount a disk here; run the tests as another user")
    try:
        with NeuroGraphMemory(MemoryConfig(save_dir=str(folder), embedding_name="hash")) as memory:
            memory.add_document(GOOD)
        if as_root:
            subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        for path in (*folder.rglob("*"), folder) if not as_root else ():
            path.chmod(0o500)
        yield folder
    finally:
        if as_root:
            subprocess.run(["umount", "-l", str(folder)], check=True)
        for path in (folder, folder / "memory") if not as_root else ():
            path.chmod(0o700)


def test_a_read_only_disk_is_a_clear_error(read_only: Path) -> None:
    with pytest.raises(StorageError, match=r"cannot write|cannot be"):
        NeuroGraphMemory(MemoryConfig(save_dir=str(read_only), embedding_name="hash"))
    assert (read_only / "memory" / "memory.db").stat().st_size > 0


def test_every_error_of_ours_is_caught_by_one_name(kept: NeuroGraphMemory) -> None:
    for wrong in (lambda: kept.recall(" "), lambda: kept.undo(to=99), lambda: MemoryNode(id="", content="x")):
        with pytest.raises(NeurogatedError):
            wrong()
