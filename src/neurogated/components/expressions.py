"""Runs the operations of expressions within one scope."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, cast

import numpy as np

from neurogated.components.conflicts import Conflicts
from neurogated.components.context import AgentContext
from neurogated.components.facts import Facts
from neurogated.components.graph import Graph, Step, admitted_rows
from neurogated.components.learning import Learning
from neurogated.components.texts import Recalls, Texts, listed_by
from neurogated.core.clock import MICROS_A_DAY, to_micros
from neurogated.core.conflicts import Conflict, Status
from neurogated.core.delta import GraphDelta, NodeChange
from neurogated.core.energy import EnergyLaw
from neurogated.core.facts import Fact
from neurogated.core.filters import Condition, FilterOptions, owned
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import NODE_KINDS
from neurogated.core.scope import Scope
from neurogated.core.view import GraphView
from neurogated.errors import InputError, UnknownIdError
from neurogated.ingestion.document import Document
from neurogated.plasticity.plasticity_engine import Outcome
from neurogated.retrieval.neuro_retriever import RecallOptions
from neurogated.session.session import Notice, Session
from neurogated.sexpr import Call
from neurogated.sexpr.cypher import explain


def call_expression(session: Session, call: Call, scope: Scope, *, read_only: bool = False) -> Any:  # noqa: ANN401
    """Run a checked call, and return a JSON value; see `NeuroGraphMemory.execute`."""
    session.of_user(scope.user_id)
    if call.operation.writes and read_only:
        raise InputError(f"{call.operation.name} changes the memory, but only reading is allowed here")
    return getattr(_Runner(session, scope), call.operation.name.rstrip("!"))(*call.arguments.values())


class _Runner:
    """One method an operation, named by it; the parameters are those of the operation, in order."""

    def __init__(self, session: Session, scope: Scope) -> None:
        self._session, self._graph, self._scope = session, Graph(session), scope
        self._filters = filters_of(scope)

    def remember(
        self, text: str, kind: str | None, importance: float | None, ttl: timedelta | None, tags: Sequence[str]
    ) -> str | list[str]:
        is_kind = kind is None or kind in NODE_KINDS
        document = Document.from_text(
            text,
            user_id=self._scope.user_id,
            agent_id=self._scope.agent_id,
            session_id=self._scope.session_id,
            path=self._scope.path,
            kind=kind if is_kind else None,
            metadata=None if is_kind else {"type": kind},
            importance=importance,
            ttl=ttl,
            tags=tags,
        )
        (ids,) = Texts(self._session).store([document])
        return ids[0] if len(ids) == 1 else ids

    def recall(self, query: str, top_n: int) -> list[dict[str, Any]]:
        options = cast("RecallOptions", {"top_n": top_n, **self._filters})
        (recall,) = Recalls(self._session).answer([query], options)
        return [{**_said(one.node), "score": round(one.score, 6)} for one in recall]

    def associate(self, source: str, target: str, relation: str | None, weight: float) -> dict[str, Any]:
        edge = self._graph.associate(source, target, relation, weight, **self._filters)
        ends = {"from": edge.source_id, "to": edge.target_id}
        return {**ends, "type": edge.type.name, "relation": edge.relation, "weight": edge.weight}

    def feedback(self, ids: Sequence[str], outcome: Outcome) -> dict[str, Any]:
        admitted_rows(self._view(), ids)
        return {"edges": int(Learning(self._session).feedback(ids, outcome, user_id=self._scope.user_id))}

    def trace(self, start: str, depth: int) -> list[dict[str, Any]]:
        return list(map(_step, self._graph.trace(start, depth, **self._filters)))

    def path(self, source: str, target: str, depth: int) -> list[dict[str, Any]] | None:
        steps = self._graph.path(source, target, depth, **self._filters)
        return None if steps is None else list(map(_step, steps))

    def activate(self, seeds: Sequence[str], steps: int, decay: float, threshold: float) -> list[dict[str, Any]]:
        found = self._graph.activate(seeds, steps, decay, threshold, **self._filters)
        nodes = self._session.store.get_nodes(list(found))
        return [{**_said(one), "activation": round(found[one.id], 6)} for one in nodes]

    def decay(self, half_life: float) -> int:
        """Lower the energies of the owner's own memories to what this half-life leaves since they were set.

        The delta names each memory that it lowers. An operator, as `Decay` is for edges, would have no list, but every
        log would have to evaluate it again for each node that it reads, with the energy and the owner of that time.
        """
        session = self._session

        def plan() -> GraphDelta:
            view, now = session.store.view(filters=owned(self._filters)), session.clock()
            rows = view.admitted_nodes()
            idle = to_micros(now) - view.energy_at.take(rows)
            left = view.base_energy.take(rows) * np.exp2(-np.maximum(idle, 0) / (half_life * MICROS_A_DAY))
            base, _ = EnergyLaw(session.config.metabolism).parts(view, rows, to_micros(now))
            lowered = np.flatnonzero(left < base)
            changes = [
                NodeChange(view.ids[row], energy=energy, energy_at=now)
                for row, energy in zip(rows[lowered].tolist(), left[lowered].tolist(), strict=True)
            ]
            return GraphDelta(node_changes=tuple(changes), reason="decay!", at=now)

        return len(session.commit(plan, lambda _: Notice("changed"), learns=True).node_changes)

    def consolidate(self) -> list[str]:
        view = self._session.store.view()
        if self._scope.user_id is None and any(one.user_id is not None for one in view.scopes):
            raise InputError("consolidate needs a user_id, because this memory has memories of users")
        return Learning(self._session).consolidate(user_id=self._scope.user_id, progress=False)

    def stats(self) -> dict[str, Any]:
        view = self._view()
        rows = view.admitted_nodes()
        links = view.links(rows)
        codes = links.code[view.admitted(links.target)]
        energy = EnergyLaw(self._session.config.metabolism).energy(view, rows, self._session.now())
        kinds = view.kind.take(rows)
        return {
            "memories": int(rows.size),
            "kinds": {name: int(n) for code, name in enumerate(view.kinds) if (n := (kinds == code).sum())},
            "edges": {one.name: int(n) for code, one in enumerate(view.edge_types) if (n := (codes == code).sum())},
            "energy": round(float(energy.sum()), 6),
        }

    def query(self, where: Condition | None, tags: Sequence[str], limit: int) -> list[dict[str, Any]]:
        wanted: FilterOptions = {**self._filters, "where": where, "tags": tags}
        return [
            {
                **_said(node),
                "kind": node.kind,
                "importance": node.importance,
                "tags": list(node.tags),
                "metadata": dict(node.metadata),
                **_times(node),
            }
            for node in self._session.store.snapshot(filters=listed_by(self._session, wanted)).find(limit=limit)
        ]

    def facts(self, subject: str | None, attribute: str | None) -> list[dict[str, Any]]:
        found = Facts(self._session).list(subject, attribute, **self._filters)
        shown = ("id", "statement", "subject", "attribute", "value", "is_denied")
        return [{**{name: getattr(one, name) for name in shown}, **_times(one)} for one in found]

    def conflicts(self, status: Status | None) -> list[dict[str, Any]]:
        return list(map(_conflict, self._own_conflicts(status)))

    def resolve(self, name: str, keep: str, because: str | None) -> dict[str, Any]:
        if all(one.id != name for one in self._own_conflicts(None)):
            raise UnknownIdError(f"there is no conflict {name!r}; (conflicts) lists them")
        settled = Conflicts(self._session).resolve(name, keep, because=because, user_id=self._scope.user_id)
        return _conflict(settled)

    def context(self, query: str, token_budget: int) -> dict[str, Any]:
        context = AgentContext(self._session)
        found = context.build(query, token_budget, explain=False, count_tokens=None, **self._filters)
        return {"text": found.text, "tokens": found.tokens, "ids": [one.id for one in found.memories]}

    def explain(self, call: Call) -> dict[str, Any]:
        return explain(call, self._filters)

    def _view(self) -> GraphView:
        return self._session.store.view(filters=listed_by(self._session, self._filters))

    def _own_conflicts(self, status: Status | None) -> list[Conflict]:
        """Return the conflicts of which the filters admit both sides."""
        found = Conflicts(self._session).list(status, user_id=self._scope.user_id)
        scope = listed_by(self._session, self._filters).scope
        return [one for one in found if scope is None or scope.admits(one.scope)]


def filters_of(scope: Scope) -> FilterOptions:
    """Return the keyword arguments of the filter for what a scope sees."""
    return {"user_id": scope.user_id, "agent_id": scope.agent_id, "session_id": scope.session_id, "path": scope.path}


def _step(step: Step) -> dict[str, Any]:
    return {**step._asdict(), "type": step.type.name}


def _conflict(one: Conflict) -> dict[str, Any]:
    shown = ("id", "first", "second", "status", "outcome", "question")
    return {name: getattr(one, name) for name in shown}


def _times(one: MemoryNode | Fact) -> Mapping[str, str | None]:
    moments = {name: getattr(one, name) for name in ("timestamp", "valid_from", "valid_to", "expires_at")}
    return {name: moment and moment.isoformat() for name, moment in moments.items()}


def _said(node: MemoryNode) -> dict[str, Any]:
    """Return the words of a memory, with its role, speaker and time where they are known."""
    about = {"role": node.role, "speaker": node.speaker, "timestamp": node.timestamp and node.timestamp.isoformat()}
    known = {name: value for name, value in about.items() if value is not None}
    return {"id": node.id, "content": node.content, **known}
