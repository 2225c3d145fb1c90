"""Nodes, edges and random histories for tests."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Any

from graph_store_kit.model import GraphModel
from neurogated.core.delta import Access, Charge, Decay, GraphDelta, NodeChange, PendingTask, WeightChange
from neurogated.core.edge_type import EdgeType
from neurogated.core.found import NOTHING_FOUND, Found
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.scope import Scope
from neurogated.testing import ManualClock

START = ManualClock().now
NAMES = tuple("abcdef")
TYPES = (EdgeType.SEQ, EdgeType.SIM, EdgeType.CAUSE, EdgeType.ASSOC)
WORDS = ("heron", "stone", "the", "Lyon", "苏州", "herons!", "'quoted\"", "")
QUERIES = ("heron", "stone heron", "Lyon", "苏州", "unknown", "the", "")
_VECTORS = ([1.0, 0.0], [0.0, 1.0], [3.0, 4.0], [-1.0, 2.0], [0.0, 0.0], None)
_KINDS = ("episode", "fact", "policy")
# All of one user, since no edge joins memories of two users.
_SCOPES = (Scope(), Scope(session_id="s"), Scope(agent_id="a", path=("x", "y")))
_STEP = timedelta(hours=7)
_PARTS = 10


def node(name: str, *vector: float, at: datetime = START, **fields: Any) -> MemoryNode:  # noqa: ANN401
    """Return a node named `name`, created and last accessed at `at`; `fields` are other fields of MemoryNode."""
    made = {"created_at": at, "last_accessed": at, "content": f"text of {name}", "embedding": vector or (1.0, 0.0)}
    return MemoryNode(id=name, **{**made, **fields})


def edge(
    source: str,
    target: str,
    kind: EdgeType = EdgeType.SEQ,
    weight: float = 0.5,
    *,
    at: datetime = START,
    **fields: Any,  # noqa: ANN401 - fields of MemoryEdge
) -> MemoryEdge:
    """Return an edge created at `at`; `fields` are other fields of MemoryEdge."""
    return MemoryEdge(source, target, kind, weight, created_at=at, **fields)


def history_of(random: Random, clock: ManualClock, deltas: int) -> Iterator[tuple[GraphDelta, GraphModel]]:
    """Yield deltas of every kind, each with the model after it; the clock advances before each."""
    model = GraphModel()
    for _ in range(deltas):
        clock.advance(_STEP)
        delta = random_delta(random, model, clock())
        model.apply(delta)
        yield delta, model.copy()


def random_delta(random: Random, model: GraphModel, at: datetime) -> GraphDelta:
    """Return a valid delta for the graph `model`, at the time `at`."""
    if model.edges and random.random() < 1 / len(NAMES):
        idle = at - random.randrange(len(NAMES)) * _STEP
        return GraphDelta(operators=(Decay(random.choice((0.5, 0.9)), idle, 1 / _PARTS),), at=at, reason="decay")
    removed = _some(random, list(model.nodes), 1)
    left = [key for key in model.edges if not {key.source_id, key.target_id} & set(removed)]
    cut = _some(random, left, 1)
    nodes = tuple(_random_node(random, name, at) for name in _some(random, list(NAMES), 2))
    there = sorted((model.nodes.keys() - set(removed)) | {node.id for node in nodes})
    keys = dict.fromkeys(_random_key(random, there) for _ in range(random.randrange(3) if len(there) > 1 else 0))
    edges = tuple(edge(*key, _weight(random), at=at) for key in keys)
    staying = [key for key in left if key not in keys and key not in cut]
    weights = tuple(
        WeightChange(key, _weight(random), derived=not key.type.plastic) for key in _some(random, staying, 2)
    )
    settled = {*cut, *keys, *(change.edge for change in weights)}
    staying_nodes = [name for name in model.nodes if name not in removed and not any(put.id == name for put in nodes)]
    touched = {name: random.randint(1, 3) for name in _some(random, staying_nodes, 2)}
    recharged = tuple(_random_change(random, name) for name in _some(random, staying_nodes, 2))
    walked = _some(random, [key for key in left if key not in settled], 2)
    return GraphDelta(
        removed_edges=cut,
        removed_nodes=removed,
        nodes=nodes,
        edges=edges,
        weights=weights,
        node_changes=recharged,
        queued=tuple(PendingTask("cause", (name,)) for name in _some(random, list(NAMES), 1)),
        settled=_some(random, list(model.waiting), 1),
        touch=Access(touched, frozenset(walked), {name: Charge(_weight(random), at) for name in touched}),
        reason=random.choice(("", "learned", "用")),
        at=at,
    )


def _some(random: Random, things: list[Any], most: int) -> tuple[Any, ...]:
    return tuple(random.sample(things, random.randint(0, min(most, len(things)))))


def _weight(random: Random) -> float:
    return random.randint(0, _PARTS) / _PARTS


def _random_key(random: Random, names: list[str]) -> EdgeKey:
    source, target = random.sample(names, 2)
    return EdgeKey(source, target, random.choice(TYPES))


def _random_change(random: Random, name: str) -> NodeChange:
    energy, importance = random.choice(((_weight(random), None), (None, _weight(random)), (0.25, 0.75)))
    return NodeChange(name, energy, importance=importance)


def _random_node(random: Random, name: str, at: datetime) -> MemoryNode:
    return MemoryNode(
        id=name,
        content=" ".join(random.choice(WORDS) for _ in range(3)),
        embedding=random.choice(_VECTORS),
        base_energy=_weight(random),
        importance=_weight(random),
        kind=random.choice(_KINDS),
        scope=random.choice(_SCOPES),
        role=random.choice((None, "user")),
        tags=random.choice(((), ("用", "work"))),
        title=random.choice((None, "Lyon")),
        position=random.choice((None, 3)),
        found=random.choice((NOTHING_FOUND, Found(["Lyon"], ["昨天"], ["Po"], "doc-1", (1, 50)))),
        metadata=random.choice(({}, {"mood": "calm"}, {"nested": {"x": [1, None]}})),
        created_at=at,
        last_accessed=at,
    )
