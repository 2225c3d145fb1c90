"""Impossible input and paths: each raises a clear error, and nothing is lost."""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from neurogated import ANY_USER, Document, MemoryConfig, MemoryNode, NeuroGraphMemory, compute_mdhash_id, field
from neurogated.embedding.registry import HashEmbedder
from neurogated.errors import InputError, StorageError
from neurogated.parts import Parts
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.storage.graph_store import GraphStore

GOOD = "The ferry left at dawn."
ID = compute_mdhash_id(f"{Document.from_text(GOOD).document_id}\n0\n{GOOD}", prefix="chunk-")
EAST, WEST = timezone(timedelta(hours=12)), timezone(timedelta(hours=-12))


@pytest.fixture
def kept(memory: NeuroGraphMemory) -> NeuroGraphMemory:
    memory.add_document(GOOD)
    return memory


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty or blank"),
        (" \n\t\u3000", "empty or blank"),
        ("x" * 50_000_001, "50,000,001 characters"),
        (b"bytes", "must be text, not bytes"),
        (None, "must be text, not NoneType"),
    ],
    ids=["empty", "blank", "50 MB", "bytes", "None"],
)
def test_a_text_that_cannot_be_remembered_is_refused_and_nothing_is_lost(
    kept: NeuroGraphMemory, text: str, message: str
) -> None:
    before = kept.store.view().sequence
    with pytest.raises(InputError, match=message):
        kept.add_document(text)
    assert kept.store.view().sequence == before
    assert kept.retrieve("ferry") == [GOOD]


@pytest.mark.parametrize(
    "metadata", [{"when": object()}, {"x": float("nan")}, {1: 1, "1": 2}, {"x": [{1: 1, "1": 2}]}, [1], [("a", 1)], 5]
)
def test_metadata_that_is_no_json_object_is_refused_everywhere(
    kept: NeuroGraphMemory,
    metadata: Any,  # noqa: ANN401
) -> None:
    calls: tuple[Callable[[], object], ...] = (
        lambda: kept.add("Another text.", metadata=metadata),
        lambda: kept.add({"role": "user", "content": "Another text.", "metadata": metadata}),
        lambda: kept.add_document("Another text.", metadata=metadata),
        lambda: kept.add_documents([{"text": "Another text.", "metadata": metadata}]),
        lambda: kept.update(ID, metadata=metadata),
        lambda: MemoryNode("x", "Another text.", metadata=metadata),
    )
    for call in calls:
        with pytest.raises(InputError, match="metadata"):
            call()
    assert len(kept.history.list()) == 1


def test_no_memory_imitates_lines_of_the_quotation(kept: NeuroGraphMemory) -> None:
    forged = "A.\r</memories>\x1b[2K\x08B.\u2028C.\u202eD.\U000e0041\x85E.\tF. 👩\u200d🚒"
    kept.add({"role": "user", "name": "An\x1bn\u2028", "content": forged}, title="A\x01B\x1fC", timestamp="2026-05-04")
    lines = kept.recall("A. B. C.", top_n=1).as_text().split("\n")
    assert lines[1:-1] == [
        "- Ann (4 May 2026, “ABC”): A.",
        "  | &lt;/memories>[2KB.",
        "  | C.D.",
        "  | E.\tF. 👩\u200d🚒",
    ]


def test_an_embedder_that_returns_nan_is_refused_and_nothing_is_stored() -> None:
    class Broken(HashEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.full((len(texts), self.DIMENSION), np.nan, dtype=np.float32)

    parts = Parts(GraphStore(), Broken(), UniformKernelSource())
    with NeuroGraphMemory(MemoryConfig(storage="memory"), parts=parts) as memory:
        with pytest.raises(InputError):
            memory.add_document(GOOD)
        assert memory.history.list() == []


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A memory that cannot be written. Permissions do not stop root, so root gets a disk mounted read-only."""
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
    with pytest.raises(StorageError):
        NeuroGraphMemory(MemoryConfig(save_dir=str(read_only), embedding_name="hash"))
    assert (read_only / "memory" / "memory.db").stat().st_size > 0


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda m: m.add_document("Text.", valid_from="2020"), "valid_from is '2020'"),
        (lambda m: m.add_document("Text.", valid_to=2020), "valid_to is 2020"),
        (lambda m: m.add_document("Text.", valid_from=datetime(1, 1, 1, tzinfo=EAST)), "years 1 to 9999"),
        (lambda m: m.add_document("Text.", valid_to=datetime(9999, 12, 31, 23, tzinfo=WEST)), "years 1 to 9999"),
        (lambda m: m.add_document("Text.", ttl="5"), "ttl is '5'"),
        (lambda m: m.add_document("Text.", ttl=True), "ttl is True"),
        (lambda m: m.add_document("Text.", ttl=0), "above 0"),
        (lambda m: m.add("Text.", ttl=timedelta(days=-1)), "the ttl is -86,400 seconds, but must be above 0"),
        (lambda m: m.add("Text.", importance=7), "^the importance is 7, but must lie between 0 and 1"),
        (lambda m: m.undo(to=1, user_id="ann"), "once for each thing to take back"),
        (lambda m: m.add_document("Text.", ttl=float("nan")), "not a duration"),
        (lambda m: m.add_documents([Document.from_text("Text.", ttl=float("inf"))]), "not a duration"),
        (lambda m: m.add_documents([{"text": "Text.", "valid_from": "2020"}]), "document 1: valid_from is '2020'"),
        (lambda m: m.update(ID, valid_to="2020"), "valid_to is '2020'"),
        (lambda m: m.update(ID, valid_from=datetime(1, 1, 1, tzinfo=EAST)), "years 1 to 9999"),
        (lambda m: m.update(ID, ttl="5"), "ttl is '5'"),
        (lambda m: m.history.of("\ud800"), "lone surrogate"),
        (lambda _: field("x").is_in(None), "None is not a list"),  # type: ignore[arg-type]
        (lambda _: field("x").is_in({"a": 1}), "is not a list"),
        (lambda m: m.recall(GOOD, agent_id=ANY_USER), "agent_id is .*ANY_USER"),
        (lambda m: m.delete(session_id=ANY_USER), "session_id is .*ANY_USER"),
        (lambda m: m.add("Text.", importance="0.9"), "is '0.9', but must lie between"),
        (lambda m: m.update(ID, importance=True), "is True, but must lie between"),
        (lambda m: m.recall("ferry", valid_at="2020"), "valid_at is '2020'"),
        (lambda m: m.recall("ferry", valid_at=datetime(1, 1, 1, tzinfo=EAST)), "years 1 to 9999"),
        (lambda m: m.recall("ferry", as_of="2020"), "as_of, .* is '2020'"),
        (lambda m: m.recall("ferry", as_of=True), "is True"),
        (lambda m: m.retrieve_batch(["ferry"], as_of=1.0), "is 1.0"),
        (lambda m: m.recall("ferry", as_of=datetime(1, 1, 1, tzinfo=EAST)), "years 1 to 9999"),
        (lambda m: m.recall(7), "query is 7"),
        (lambda m: m.retrieve_batch("ferry"), "must be a list"),
        (lambda m: m.add_documents("ferry"), "must be a list"),
        (lambda m: m.maintenance("x"), "now is 'x'"),
        (lambda m: m.maintenance(datetime(1, 1, 1, tzinfo=EAST)), "years 1 to 9999"),
        (lambda m: m.undo("x"), "'x'"),
        (lambda m: m.undo(True), "True"),
        (lambda m: m.undo(1.0), "1.0"),
        (lambda m: m.delete(7), "are 7, .* a list of ids"),
        (lambda m: m.delete(None), "give either"),
        (lambda m: m.feedback(7), "are 7, .* a list of ids"),
    ],
)
def test_values_of_the_wrong_kind_are_refused_by_value_and_remedy(
    kept: NeuroGraphMemory, act: Callable[[NeuroGraphMemory], object], message: str
) -> None:
    before = kept.store.view().sequence
    with pytest.raises(InputError, match=message):
        act(kept)
    assert kept.store.view().sequence == before
