"""The commands that forget, update and ask about the past. Steps of a test share one memory."""

import contextlib
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from neurogated import GraphStore, MemoryConfig, NeuroGraphMemory
from neurogated.cli import main
from neurogated.cli.opening import Flags
from neurogated.embedding.registry import HashEmbedder
from neurogated.parts import Parts
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.testing import ManualClock

Run = Callable[..., tuple[int, str]]


class SeveralGraphs(GraphStore):
    """A store with several named graphs, like a store on disk."""

    def compact(self, *, history: bool = False) -> int:  # noqa: ARG002 - unused
        return 3


@pytest.fixture
def memory(clock: ManualClock) -> NeuroGraphMemory:
    parts = Parts(SeveralGraphs(clock=clock), HashEmbedder(), UniformKernelSource(), clock=clock)
    return NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash"), parts=parts)


@pytest.fixture
def run(memory: NeuroGraphMemory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command on the memory and returns its exit code and output."""

    @contextlib.contextmanager
    def opened(*_: object, **__: object) -> Iterator[NeuroGraphMemory]:
        yield memory

    monkeypatch.setattr(Flags, "open", opened)

    def call(*words: str) -> tuple[int, str]:
        code = main(list(words))
        captured = capsys.readouterr()
        return code, captured.out if code == 0 else captured.err

    return call


def test_memories_are_deleted_by_id_and_by_document(run: Run, memory: NeuroGraphMemory) -> None:
    first, second = (run("add", text)[1].strip() for text in ("A heron.", "A stone."))
    document_id = memory.store.get_node(second).found.document_id
    assert run("delete", first) == (0, "1 memory deleted\n")
    assert json.loads(run("delete", "--document", document_id, "--json")[1]) == {"deleted": 1}
    assert list(memory.store.all_nodes()) == []
    code, message = run("delete", first)
    assert (code, message.startswith("0 memories deleted"), "before" in message) == (0, True, True)
    code, message = run("delete", "chunk-1")
    assert (code, "chunk-1" in message) == (1, True)


@pytest.mark.parametrize("words", [["delete"], ["delete", "chunk-1", "--document", "doc-1"]])
def test_delete_takes_exactly_one_selection(run: Run, words: list[str]) -> None:
    code, message = run(*words)
    assert (code, "--document" in message) == (2, True)


def test_a_text_with_a_ttl_expires(run: Run, memory: NeuroGraphMemory, clock: ManualClock) -> None:
    end = datetime(2027, 1, 1, tzinfo=UTC)
    node_id = run("add", "The code is 4711.", "--ttl", "60", "--valid_to", end.isoformat())[1].strip()
    node = memory.store.get_node(node_id)
    assert (node.expires_at, node.valid_to) == (clock() + timedelta(minutes=1), end)
    clock.advance(timedelta(hours=1))
    assert json.loads(run("maintain", "--json")[1]) == {"expired": 1, "removed": 0}
    assert "0 expired memories" in run("maintain")[1]


@pytest.mark.parametrize(
    "words",
    [
        ["add", "text", "--ttl", "soon"],
        ["add", "text", "--valid_from", "soon"],
        ["ask", "what?", "--as_of", "soon"],
        ["ask", "what?", "--valid_at", "soon"],
        ["maintain", "--now", "soon"],
    ],
)
def test_a_time_that_is_none_is_named(run: Run, words: list[str]) -> None:
    code, message = run(*words)
    assert code == 2
    assert (words[-2].strip("-") in message, "'soon'" in message) == (True, True)
