"""Routes of conflicts, facts and the history."""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import Annotated, Literal

from neurogated.core.extras import needs_extra
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
) -> list[models.Conflict]:
    """List contradictions between memories, the latest first, with the question to ask."""

    def found() -> list[models.Conflict]:
        listed = caller.memory.conflicts.list(None if status == "all" else status, user_id=caller.user_id, limit=limit)
        return [models.Conflict.model_validate(one) for one in listed]

    return await caller.run(found)


@router.post("/conflicts/{conflict_id}/resolve")
async def resolve(caller: CallerOf, conflict_id: str, body: models.Choice) -> models.Conflict:
    """Give a conflict an outcome; `undo` takes it back."""

    def resolved() -> models.Conflict:
        node_id = caller.changeable(conflict_id).id
        conflict = caller.memory.conflicts.resolve(node_id, body.choice, because=body.because)
        return models.Conflict.model_validate(conflict)

    return await caller.run(resolved)


@router.get("/facts")
async def facts(
    caller: CallerOf, subject: str | None = None, attribute: str | None = None, valid_at: datetime | None = None
) -> list[models.Fact]:
    """List what is known of subjects; facts that hold no longer have a `valid_to`."""

    def found() -> list[models.Fact]:
        listed = caller.memory.facts.list(subject, attribute, valid_at=valid_at, user_id=caller.user_id)
        return [models.Fact.model_validate(fact) for fact in listed]

    return await caller.run(found)


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
