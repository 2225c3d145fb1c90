"""Compaction removes erased content from every byte on disk and nothing else, and no undo mistakes it."""

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_store_kit.reads import nearest
from neurogated import EdgeType, GraphDelta, MemoryConfig, MemoryEdge, MemoryNode, NeuroGraphMemory
from neurogated.core.clock import utc_now
from neurogated.core.delta import Decay, PendingTask
from neurogated.core.found import Found
from neurogated.errors import InputError, UnknownIdError
from neurogated.session.administration import import_memory, restore_snapshot
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.testing import ManualClock

SECRET_VECTOR = np.array([0.123456, -0.654321, 0.777777], dtype=np.float32)
SECRETS = (
    "hushed content", "hushed-id", "Hushed Speaker", "Hushed Title", "hushed value", "Hushed Found", "schweigend ä",
)  # fmt: skip


def _secret(clock: ManualClock) -> MemoryNode:
    return MemoryNode(
        "hushed-id",
        "hushed content schweigend ä",
        SECRET_VECTOR,
        speaker="Hushed Speaker",
        title="Hushed Title",
        metadata={"note": ["hushed value"]},
        found=Found(["Hushed Found"], document_id="d"),
        created_at=clock(),
    )


def _bytes(folder: Path) -> bytes:
    return b"\0".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def _assert_gone(folder: Path) -> None:
    found = _bytes(folder)
    for secret in SECRETS:
        assert secret.encode() not in found
        assert json.dumps(secret).encode() not in found
    assert SECRET_VECTOR.tobytes() not in found


def _fill(store: SqliteStore, clock: ManualClock) -> None:
    secret = _secret(clock)
    answer = MemoryNode(
        "answer", "first answer", [1, 2, 3], metadata={"context": ["my own"]}, found=Found(document_id="d")
    )
    store.apply(GraphDelta(nodes=(secret, answer), edges=(MemoryEdge("hushed-id", "answer", EdgeType.SEQ),)))
    store.apply(GraphDelta(nodes=(MemoryNode("other", "other content", [3, 2, 1]),)))
    store.apply(GraphDelta(edges=(MemoryEdge("answer", "other", EdgeType.CAUSE, 0.5),)))
    task = PendingTask("cause", ("hushed-id", "answer"))
    store.apply(GraphDelta(queued=(task, PendingTask("cause", ("answer", "other")))))
    # Enough to fill several pages, and an update that leaves an old version behind.
    bulk = tuple(MemoryNode(f"bulk {place}", "x" * 300, [1, 1, place]) for place in range(100))
    store.apply(GraphDelta(nodes=bulk))
    store.apply(GraphDelta(nodes=(MemoryNode("answer", "second answer", [1, 2, 3], metadata=answer.metadata),)))


def test_no_byte_of_an_erased_node_is_left(tmp_path: Path, clock: ManualClock) -> None:
    with SqliteStore.open(tmp_path / "memory.db", clock=clock) as store:
        _fill(store, clock)
        store.remove_node("hushed-id")
        assert SECRETS[0].encode() in _bytes(tmp_path)
        assert SECRET_VECTOR.tobytes() in _bytes(tmp_path)
        assert store.compact() == 1
        _assert_gone(tmp_path)
        assert store.pending() == [PendingTask("cause", ("answer", "other"))]
        assert store.get_node("answer").metadata["context"] == ["my own"]
        assert store.check() == []
    _assert_gone(tmp_path)
    with SqliteStore.open(tmp_path / "memory.db", clock=clock) as store:
        assert store.check() == []
        assert store.as_of(1).get_node("answer").content == "first answer"
        assert store.as_of(1).get_node("answer").metadata["context"] == ["my own"]
        assert list(store.as_of(1).all_edges()) == []
        with pytest.raises(UnknownIdError):
            store.as_of(1).get_node("hushed-id")
        assert store.as_of(4).get_edge("answer", "other").weight == 0.5
    _assert_gone(tmp_path)


def test_a_dropped_namespace_leaves_no_byte_either(tmp_path: Path, clock: ManualClock) -> None:
    with SqliteStore.open(tmp_path / "memory.db", "one", clock=clock) as store:
        _fill(store.in_namespace("hushed value"), clock)
        store.add_node(MemoryNode("mine", "mine", [1, 0, 0]))
        store.drop_namespace("hushed value")
        store.compact()
        _assert_gone(tmp_path)
        assert b"second answer" not in _bytes(tmp_path)
        assert store.namespaces() == ["one"]
        assert store.check() == []
        assert store.get_node("mine").content == "mine"
        assert len(store.in_namespace("hushed value")) == 0


# The past of the remaining nodes


def _texts(store: SqliteStore) -> dict[str, str]:
    return {node.id: node.content for node in store.all_nodes()}


def test_no_byte_of_an_old_text_is_left_where_the_history_is_erased(tmp_path: Path, clock: ManualClock) -> None:
    with SqliteStore.open(tmp_path / "memory.db", "one", clock=clock) as store:
        sibling = store.in_namespace("two")
        for graph in (store, sibling):
            _fill(graph, clock)
            graph.apply(GraphDelta(nodes=(MemoryNode("hushed-id", "open content", [0, 0, 1]),)))
            # Removed and added again, with one edge that ended meanwhile and one that was added later.
            graph.remove_node("other")
            graph.add_node(MemoryNode("other", "other again"))
        store.add_edge("hushed-id", "other", EdgeType.SIM, 0.5)
        assert store.compact() == 0
        assert SECRETS[0].encode() in _bytes(tmp_path)
        assert store.as_of(1).get_node("answer").content == "first answer"
        before = list(store.all_nodes()), list(store.all_edges()), nearest(store, [0, 0, 1], 3)
        last = store.view().sequence
        assert store.compact(history=True) == 0
        found = _bytes(tmp_path)
        for text in (*SECRETS[:1], *SECRETS[2:], "first answer", "other content"):
            assert text.encode() not in found
        assert SECRET_VECTOR.tobytes() not in found
        assert store.check() == []
        assert (next(store.all_nodes()).content, store.view().sequence) == ("open content", last)
        after = list(store.all_nodes()), list(store.all_edges()), nearest(store, [0, 0, 1], 3)
        assert [node.content for node in after[0]] == [node.content for node in before[0]]
        assert after[1:] == before[1:]
        assert store.get_node("answer").metadata["context"] == ["my own"]
        assert store.compact(history=True) == 0
    with SqliteStore.open(tmp_path / "memory.db", "one", clock=clock) as store:
        assert store.check() == []
        past = store.as_of(1)
        assert _texts(past) == {"hushed-id": "open content", "answer": "second answer"}  # type: ignore[arg-type]
        assert past.get_edge("hushed-id", "answer").weight == 1.0
        assert nearest(past, [0, 0, 1], 1)[0][0] == "hushed-id"
        store.add_node(MemoryNode("answer", "third answer"))
        assert store.as_of(last).get_node("answer").content == "second answer"
        store.remove_node("answer")
        assert store.compact() == 1
        assert store.check() == []


def test_a_view_from_before_a_compaction_still_gives_the_nodes_that_remain(path: Path) -> None:
    with SqliteStore.open(path) as store:
        store.apply(GraphDelta(nodes=(MemoryNode("a", "apple"), MemoryNode("b", "pear"))))
        earlier = store.view()
        store.remove_node("a")
        store.compact()
        found = store.snapshot(earlier)
        assert [node.id for node in found.nodes(earlier.live_nodes())] == ["b"]
        assert list(found.said(earlier.live_nodes())) == [earlier.row("b")]


@given(st.lists(st.tuples(st.sampled_from("puruxd"), st.integers(0, 3), st.integers(0, 3)), max_size=25))
def test_the_journal_replays_any_history_to_the_graph_without_its_history(steps: list[tuple[str, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder, SqliteStore.open(Path(folder) / "memory.db") as store:
        said: set[str] = set()
        for number, (step, first, second) in enumerate(steps):
            names = f"node {first}", f"node {second}"
            if step in "pu":
                said.add(f"text <{number}>")
                vector = [1.0, number] if second % 2 else None
                store.add_node(MemoryNode(names[0], f"text <{number}>", vector, created_at=utc_now()))
            elif step == "r" and store.has_node(names[0]):
                store.remove_node(names[0])
            elif step == "x" and first != second and all(map(store.has_node, names)):
                store.add_edge(*names, EdgeType.ASSOC, 0.1 * number % 1)
            elif step == "d":
                store.apply(GraphDelta(operators=(Decay(0.9, utc_now()),)))
        nodes, edges = list(store.all_nodes()), list(store.all_edges())
        store.compact(history=True)
        assert store.check() == []
        assert (list(store.all_nodes()), list(store.all_edges())) == (nodes, edges)
        content = _bytes(Path(folder))
        assert {text for text in said if text.encode() in content} == {node.content for node in nodes}
        for sequence in range(store.view().sequence):
            assert _texts(store.as_of(sequence)).items() <= _texts(store).items()  # type: ignore[arg-type]


TEXTS = ["Ana planted an oak near the river.", "The river near the oak floods.", "Ana repairs the bridge at the river."]


@pytest.fixture(params=["memory", "sqlite"])
def config(request: pytest.FixtureRequest, tmp_path: Path) -> MemoryConfig:
    return MemoryConfig(save_dir=str(tmp_path / "source"), embedding_name="hash", storage=request.param)


@pytest.fixture
def memory(config: MemoryConfig) -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(config) as memory:
        ids = [memory.add(text, title="River")[0] for text in TEXTS]
        memory.update(ids[0], "Ana planted an old oak near the river in spring.")
        memory.update(ids[1], title="Floods")
        yield memory


def _content(memory: NeuroGraphMemory) -> tuple[dict[str, str], set[tuple[str, str, EdgeType]]]:
    return (
        {node.id: node.content for node in memory.store.all_nodes()},
        {(edge.source_id, edge.target_id, edge.type) for edge in memory.store.all_edges()},
    )


UNDOES: list[Callable[[NeuroGraphMemory], object]] = [
    lambda memory: memory.undo(),
    lambda memory: memory.undo(2),
    lambda memory: memory.undo(0),
]


@pytest.mark.parametrize("undo", UNDOES, ids=["last", "to 2", "to 0"])
def test_a_change_before_the_erasure_is_not_undone(
    memory: NeuroGraphMemory, undo: Callable[[NeuroGraphMemory], object]
) -> None:
    before = _content(memory)
    memory.admin.compact(history=True)
    with pytest.raises(InputError):
        undo(memory)
    assert _content(memory) == before
    assert memory.admin.check() == []


@pytest.mark.parametrize("how", ["reopened", "restored", "exported"])
def test_a_copy_knows_what_was_erased(tmp_path: Path, how: str) -> None:
    config = MemoryConfig(save_dir=str(tmp_path / "source"), embedding_name="hash")
    target = config.replace(save_dir=str(tmp_path / "target"))
    with NeuroGraphMemory(config) as memory:
        ids = [memory.add(text)[0] for text in TEXTS]
        memory.update(ids[0], "Ana felled the oak near the river.")
        memory.admin.compact(history=True)
        memory.add("A heron stands in the river near the oak.")
        memory.admin.snapshot(tmp_path / "taken")
        memory.admin.export(tmp_path / "out", progress=False)
    if how == "restored":
        restore_snapshot(target, tmp_path / "taken")
    elif how == "exported":
        import_memory(target, tmp_path / "out", progress=False)
    with NeuroGraphMemory(config if how == "reopened" else target) as memory:
        memory.undo()
        before = _content(memory)
        with pytest.raises(InputError):
            memory.undo(0)
        assert _content(memory) == before
