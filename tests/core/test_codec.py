"""Deltas: bytes are read as they were written, damage is never read as content, and one lock covers a change."""

import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import fields, replace
from datetime import UTC, datetime
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_store_kit.histories import history_of
from neurogated import GraphDelta, GraphStore, MemoryNode
from neurogated.core.codec import decode, encode
from neurogated.core.commit import Committer, newest_first
from neurogated.core.delta import LATEST, Access, Charge, HistoryEntry, NodeChange, PendingTask, WeightChange
from neurogated.core.edge_type import EdgeType
from neurogated.core.found import Found, Statement
from neurogated.core.model import EdgeKey, MemoryEdge
from neurogated.core.scope import Scope
from neurogated.errors import CorruptMemoryError
from neurogated.testing import ManualClock

AT = datetime(2031, 2, 3, 4, 5, 6, 789, tzinfo=UTC)
KEY = EdgeKey("a", "b", EdgeType.CAUSE)
# No field has its default value.
NODE = MemoryNode(
    "a",
    "Ana lives in 苏州 \0",
    [0.1, -2.5, 3e-38],
    0.0,
    AT,
    {"deep": [{"x": None}, 1.5, True], "": ""},
    created_at=AT.replace(year=2030),
    valid_from=AT.replace(year=1),
    valid_to=AT.replace(year=9999),
    expires_at=AT.replace(year=2040),
    kind="fact",
    scope=Scope("user", "agent", "session", ("x", "y")),
    importance=0.0,
    energy_at=AT.replace(year=2029),
    uses=3,
    charge=0.25,
    charged_at=AT.replace(year=2028),
    timestamp=AT.replace(year=1066),
    role="user",
    speaker="Ana",
    title="Home",
    position=0,
    tags=("b", "a"),
    found=Found(["Ana"], ["now"], ["Home"], "doc", (0, 3), Statement("Ana", "city", "苏州", 0.5), 0.0, "Lyon", -1.0),
)
SMALL = GraphDelta(
    removed_edges=(KEY,),
    removed_nodes=("c",),
    nodes=(NODE, replace(NODE, id="b", embedding=None), replace(NODE, id="d", embedding=[1.0, 2.0])),
    edges=(MemoryEdge(*KEY, 0.0, AT, AT.replace(year=2032), AT, AT, "leads to"),),
    weights=(WeightChange(KEY, 0.0, AT), WeightChange(KEY._replace(type=EdgeType.SIM), 0.5, derived=True)),
    node_changes=(NodeChange("a", 0.0, AT, 0.5), NodeChange("b", importance=0.0)),
    queued=(PendingTask("cause", ("a", "b")),),
    settled=(PendingTask("claims", ("c",)),),
    touch=Access({"a": 2}, frozenset({KEY}), {"a": Charge(0.5, AT)}),
    reason="learned 用",
    at=AT,
)


@given(st.integers(0, 10**6))
def test_a_history_is_read_as_it_was_written(seed: int) -> None:
    for delta, _ in history_of(Random(seed), ManualClock(), 8):
        assert decode(encode(delta)) == delta


def test_every_field_is_kept() -> None:
    read = decode(encode(SMALL))
    for field in fields(SMALL):
        assert getattr(read, field.name) == getattr(SMALL, field.name), field.name
    assert np.asarray(read.nodes[0].embedding).tobytes() == np.asarray(NODE.embedding).tobytes()


@given(st.data())
def test_a_changed_byte_is_noticed(data: st.DataObject) -> None:
    stored = bytearray(encode(SMALL))
    at = data.draw(st.integers(0, len(stored) - 1))
    stored[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(CorruptMemoryError):
        decode(bytes(stored))


@given(st.integers(0, len(encode(SMALL)) - 1))
def test_missing_and_additional_bytes_are_noticed(length: int) -> None:
    stored = encode(SMALL)
    for damaged in (stored[:length], stored + stored[:length] + b"x"):
        with pytest.raises(CorruptMemoryError):
            decode(damaged)


@pytest.mark.parametrize("body", [b"{}", b"[]", b"1", b'{"at": 0, "other": 1}', b'{"at": 0, "types": [1]}', b"{"])
def test_bytes_that_hold_no_delta_are_refused(body: bytes) -> None:
    packed = zlib.compress(body)
    with pytest.raises(CorruptMemoryError):
        decode(_sealed(struct.pack("<BI", 1, len(packed)) + packed))


def test_another_process_learns_the_types_and_kinds_of_a_delta() -> None:
    program = """
import sys
from neurogated.core.codec import {call}
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.node_kind import register_kind
"""
    writer = """
kind = EdgeType.register("LIKES", "likes", plastic=True, both_ways=False)
delta = GraphDelta(nodes=[MemoryNode("a", "x", kind=register_kind("recipe"))], edges=[MemoryEdge("a", "b", kind)])
sys.stdout.write(encode(delta).hex())
"""
    reader = """
delta = decode(bytes.fromhex(sys.argv[1]))
kind = delta.edges[0].type
assert (kind.name, kind.value, kind.plastic, kind.both_ways) == ("LIKES", "likes", True, False)
assert delta.nodes[0].kind == "recipe"
"""
    stored = _output(program.format(call="encode") + writer)
    _output(program.format(call="decode") + reader, stored)


def _sealed(rest: bytes) -> bytes:
    return struct.pack("<I", zlib.crc32(rest)) + rest


def _output(program: str, *arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, check=True, text=True
    ).stdout


class Watched(GraphStore):
    """Counts the changes that are asked for."""

    read = 0

    def history(self, after: int = 0, up_to: int = LATEST) -> list[HistoryEntry]:
        self.read += up_to - after
        return super().history(after, up_to)


@given(changes=st.integers(0, 120), before=st.none() | st.integers(0, 130))
def test_changes_are_read_from_the_newest_and_few_more_than_are_taken(changes: int, before: int | None) -> None:
    store = Watched()
    for number in range(changes):
        store.apply(GraphDelta(nodes=(MemoryNode(str(number), "x"),)))
    whole, store.read = store.history(), 0
    found = newest_first(store) if before is None else newest_first(store, before)
    wanted = [one for one in reversed(whole) if before is None or one.sequence < before]
    for taken, one in enumerate(wanted, start=1):
        assert next(found) == one
        assert store.read <= 16 + 3 * taken
    assert not list(found)


def test_no_other_thread_computes_a_change_between_another_one_and_its_write() -> None:
    store, seen, jobs = GraphStore(), list[tuple[str, int]](), list[Future[None]]()
    committer = Committer(store)

    def add(name: str, meanwhile: Callable[[], object] = lambda: None) -> None:
        def plan() -> GraphDelta:
            seen.append((name, store.view().node_count))
            meanwhile()
            return GraphDelta(nodes=(MemoryNode(name, name),))

        committer.commit(plan)

    def start_another() -> None:
        jobs.append(other.submit(add, "second"))
        # It waits for the lock; without one, it would be done by now.
        wait(jobs, timeout=0.2)

    with ThreadPoolExecutor(1) as other:
        add("first", start_another)
        jobs[0].result()
    assert seen == [("first", 0), ("second", 1)]
