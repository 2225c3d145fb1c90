"""After an interrupt at any line of a change, a rollback or a search, a store agrees with its file."""

import ast
import dis
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import pytest

import neurogated.storage
from graph_store_kit.reads import keyword_search, nearest
from neurogated import Access, Decay, EdgeKey, EdgeType, GraphDelta, MemoryEdge, MemoryNode, WeightChange
from neurogated.core.delta import PendingTask
from neurogated.storage.sqlite_store import SqliteStore

STORAGE = str(Path(next(iter(neurogated.storage.__path__))))
SEQ = EdgeKey("a", "b", EdgeType.SEQ)


class Place(NamedTuple):
    """A line of the storage."""

    file: str
    line: int


@cache
def _with_lines(file: str) -> frozenset[int]:
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    return frozenset(node.lineno for node in ast.walk(tree) if isinstance(node, ast.With))


@cache
def _parse_all() -> None:
    """Parse the storage. Parsing while a finalizer may run breaks Python 3.11."""
    for file in Path(STORAGE).rglob("*.py"):
        _with_lines(str(file))


@cache
def _operations(code: CodeType) -> dict[int, str]:
    return {operation.offset: operation.opname for operation in dis.get_instructions(code)}


def _is_spared(frame: FrameType) -> bool:
    """Return whether Python allows no interrupt here: at the exit of a `with` block, or at a no-op.

    A `return` in a `with` block is such a line, which the exit of the block does not cover.
    """
    name = _operations(frame.f_code).get(frame.f_lasti, "")
    leaves = name in ("LOAD_CONST", "SWAP", "PUSH_EXC_INFO", "WITH_EXCEPT_START")
    return name == "NOP" or (leaves and frame.f_lineno in _with_lines(frame.f_code.co_filename))


def _finalizes(frame: FrameType | None) -> bool:
    """Return whether a finalizer runs. Python reports and ignores its errors."""
    while frame is not None and frame.f_code.co_filename != weakref.__file__ and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    return frame is not None


@contextmanager
def interrupt(raises: Callable[[Place], BaseException | None], only: str = STORAGE) -> Iterator[None]:
    """Before every line of the storage in this thread, call `raises` and raise the error it returns.

    With `only`, the beginning of a path, other files run at full speed.
    """

    def trace(frame: FrameType, event: str, _: Any) -> Any:  # noqa: ANN401
        if not frame.f_code.co_filename.startswith(only) or (event == "call" and _finalizes(frame)):
            return None
        if event == "line" and not _is_spared(frame):
            error = raises(Place(frame.f_code.co_filename, frame.f_lineno))
            if error is not None:
                raise error
        return trace

    _parse_all()
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def lines_of(action: Callable[[], object]) -> list[tuple[Place, int]]:
    """Run an action. Return its lines in order of first execution, each with its number of executions."""
    found: Counter[Place] = Counter()
    with interrupt(lambda place: found.update([place])), suppress(ZeroDivisionError):
        action()
    return list(found.items())


def told(store: SqliteStore) -> list[Any]:
    """Return the readable state of every graph of a memory."""
    said: list[Any] = [store.embedder, store.namespaces()]
    for name in store.namespaces():
        graph = store.in_namespace(name)
        keys = keyword_search(graph, "word phantom after", 9)
        near = nearest(graph, [1.0, 1.0], 9) if graph.embedder else []
        said.append((name, graph.view().sequence, list(graph.all_nodes()), list(graph.all_edges()), graph.pending()))
        said.append((name, keys, near, graph.history()))
    return said


def node(name: str, x: float = 1.0) -> MemoryNode:
    return MemoryNode(name, f"word {name}", [x, 0.5], created_at=AT, last_accessed=AT)


AT = datetime(2026, 1, 1, tzinfo=UTC)


def make(path: Path) -> SqliteStore:
    store = SqliteStore.open(path)
    store.bind_embedder("model", 2)
    store.apply(GraphDelta(nodes=(node("a"), node("b"), node("gone")), edges=(MemoryEdge(*SEQ, 0.5, AT),), at=AT))
    store.apply(GraphDelta(nodes=(node("a", 2.0),), removed_nodes=("gone",), at=AT))
    store.in_namespace("other").add_node(node("o"))
    return store


def roll_back(store: SqliteStore) -> None:
    with store.transaction():
        store.add_node(node("phantom"))
        store.in_namespace("other").add_node(node("phantom"))
        store.in_namespace("made in vain").add_node(node("phantom"))
        raise ZeroDivisionError


def go_on_after_a_part(store: SqliteStore) -> None:
    with store.transaction():
        store.add_node(node("x"))
        with suppress(KeyboardInterrupt, ZeroDivisionError), store.transaction():
            store.add_node(node("phantom"))
            raise ZeroDivisionError
        store.add_node(node("y"))


def write(store: SqliteStore) -> None:
    task = PendingTask("cause", ("a",))
    store.apply(
        GraphDelta(
            nodes=(node("b", 3.0), node("new")),
            edges=(MemoryEdge("b", "new", EdgeType.SIM, 0.5, AT),),
            weights=(WeightChange(SEQ, 0.75),),
            queued=(task,),
            touch=Access.of(frozenset("a")),
            at=AT,
        )
    )
    store.apply(GraphDelta(removed_nodes=("new",), settled=(task,), at=AT))
    store.apply(GraphDelta(operators=(Decay(0.9, datetime(2027, 1, 1, tzinfo=UTC)),), at=AT))


def reembed(store: SqliteStore) -> None:
    vectors = [(version.key, [0.25, 1.0]) for version in store.embedded_versions()]
    store.replace_vectors("model", 2, vectors, GraphDelta(nodes=(node("reembedded"),), at=AT))


def compact(store: SqliteStore) -> None:
    store.compact(history=True)


def drop(store: SqliteStore) -> None:
    store.in_namespace("dropped").add_node(node("d"))
    store.drop_namespace("dropped")
    store.in_namespace("next").add_node(node("n"))


def look_back(store: SqliteStore) -> None:
    past = store.as_of(1)
    assert keyword_search(past, "word gone", 3)
    assert nearest(past, [1.0, 1.0], 3)


ACTIONS = [roll_back, go_on_after_a_part, write, reembed, compact, drop, look_back]


def assert_survives(path: Path, action: Callable[[SqliteStore], None], error: BaseException, share: int) -> None:
    """Interrupt an action at every `share`-th of its lines, at the first and at the last execution.

    All interrupts hit the same store, so damage by one shows after a later one too.
    """
    with make(path) as store, ThreadPoolExecutor(1) as another_thread:
        lines = lines_of(lambda: action(store))
        last: list[str] = []
        for place, times in lines[::share]:
            for occasion in {1, times}:
                left = occasion

                def strike(here: Place, place: Place = place) -> BaseException | None:
                    nonlocal left
                    left -= here == place
                    return error if here == place and not left else None

                with suppress(KeyboardInterrupt, MemoryError, ZeroDivisionError), interrupt(strike, place.file):
                    action(store)
                name = f"after-{place.line}-{occasion}"
                edge = MemoryEdge("a", name, EdgeType.SEQ, 0.5, AT)
                # The graph stays small, so that comparing it is fast.
                store.apply(GraphDelta(nodes=(node(name),), edges=(edge,), removed_nodes=tuple(last), at=AT))
                last = [name]
                assert store.get_edge("a", name).target_id == name
                with store.exclusively():
                    # The thread reads the last published state.
                    assert another_thread.submit(store.has_node, name).result(timeout=60), place
                with SqliteStore.open(path, read_only=True) as fresh:
                    assert not fresh.has_node("phantom"), place
                    assert told(store) == told(fresh), place
        assert store.check() == []


@pytest.mark.parametrize("share", [53, pytest.param(11, marks=[pytest.mark.slow, pytest.mark.nightly])])
@pytest.mark.parametrize("action", ACTIONS)
def test_an_interrupt_at_any_line_leaves_the_stored_state(
    tmp_path: Path, action: Callable[[SqliteStore], None], share: int
) -> None:
    assert_survives(tmp_path / "memory.db", action, KeyboardInterrupt(), share)
