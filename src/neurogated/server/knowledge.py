"""Routes of conflicts, facts, the history, the manifest and expressions."""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import Annotated, Literal

from neurogated.components.manifest import BUDGET
from neurogated.core.conflicts import Conflict
from neurogated.core.extras import needs_extra
from neurogated.core.facts import Fact
from neurogated.core.filters import NO_MEMORIES
from neurogated.core.model import MemoryNode
from neurogated.server import models
from neurogated.server.callers import Caller, CallerOf

with needs_extra("serve"):
    from fastapi import APIRouter, HTTPException, Query

router = APIRouter(tags=["knowledge"])
Limit = Annotated[int, Query(ge=1, le=1000)]


@router.get("/conflicts")
async def conflicts(
    caller: CallerOf, status: Literal["open", "resolved", "all"] = "open", limit: Limit = 50
) -> list[Conflict]:
    """List contradictions between memories, the latest first, with the question to ask."""
    wanted = None if status == "all" else status
    return await caller.run(caller.memory.conflicts.list, wanted, user_id=caller.user_id, limit=limit)


@router.post("/conflicts/{conflict_id}/resolve")
async def resolve(caller: CallerOf, conflict_id: str, body: models.Choice) -> Conflict:
    """Give a conflict an outcome; `undo` takes it back."""

    def resolved() -> Conflict:
        return caller.memory.conflicts.resolve(caller.changeable(conflict_id).id, body.choice, because=body.because)

    return await caller.run(resolved)


@router.get("/facts")
async def facts(
    caller: CallerOf, subject: str | None = None, attribute: str | None = None, valid_at: datetime | None = None
) -> list[Fact]:
    """List what is known of subjects; facts that hold no longer have a `valid_to`."""
    find = caller.memory.facts.list
    return await caller.run(find, subject, attribute, valid_at=valid_at, user_id=caller.user_id)


@router.get("/history")
async def history(caller: CallerOf, limit: Limit = 50) -> list[models.Entry]:
    """List changes, the latest first: those of the user, or without a user those of the whole graph."""
    return await caller.run(lambda: _entries(caller)[::-1][:limit])


def _entries(caller: Caller) -> list[models.Entry]:
    if caller.user_id is None:
        told = caller.memory.history.list()
        return [models.Entry(at=one.at, sequence=one.sequence, reason=one.reason, memories=()) for one in told]
    entries, known = list[models.Entry](), dict[str, MemoryNode]()
    for _, found in itertools.groupby(caller.memory.history.of_user(caller.user_id), lambda one: one.sequence):
        versions = list(found)
        changed = []
        for one in versions:
            node = known[one.node_id] = one.node or known[one.node_id]
            if node.kind not in NO_MEMORIES:
                action: Literal["written", "deleted"] = "written" if one.node else "deleted"
                changed.append(models.Version(id=node.id, action=action, content=node.content))
        if changed:
            # Numbers and reasons of changes would tell how much other users write.
            entries.append(models.Entry(at=versions[0].at, sequence=None, reason=None, memories=tuple(changed)))
    return entries


@router.post("/undo")
async def undo(caller: CallerOf, body: models.UndoTo | None = None) -> models.Undone:
    """Take back the last change of the user; without a user the last change of the graph, or all after `to`."""
    to = None if body is None else body.to
    if to is not None and caller.user_id is not None:
        raise HTTPException(400, "one user's history has no numbers; leave out `to` to take back her last change")
    made = await caller.run(caller.memory.undo, to, user_id=caller.user_id)
    return models.Undone(undone=made is not None)


@router.get("/manifest")
async def manifest(caller: CallerOf, budget: Annotated[int, Query(ge=1, le=2000)] = BUDGET) -> models.Manifest:
    """Tell what the memories are about; the text has at most `budget` tokens."""

    def built() -> models.Manifest:
        of = caller.memory.manifest
        values = models.attributes(of.get(user_id=caller.user_id), models.Manifest.model_fields.keys() - {"text"})
        return models.Manifest(**values, text=of.text(budget=budget, user_id=caller.user_id))

    return await caller.run(built)


@router.post("/execute")
async def execute(caller: CallerOf, body: models.Expression) -> models.Result:
    """Run one expression."""
    run = caller.memory.execute
    return models.Result(
        result=await caller.run(run, body.expression, user_id=caller.user_id, read_only=body.read_only)
    )
