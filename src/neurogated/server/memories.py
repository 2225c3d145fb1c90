"""Routes of memories: add, list, read, update, delete, recall, context, feedback."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from neurogated.core.extras import needs_extra
from neurogated.server import models
from neurogated.server.callers import CallerOf

with needs_extra("serve"):
    from fastapi import APIRouter, HTTPException, Query
    from pydantic import BaseModel

router = APIRouter(tags=["memories"])


def _given(body: BaseModel) -> dict[str, Any]:
    return body.model_dump(exclude_none=True)


@router.post("/memories", status_code=201, response_model_exclude_defaults=True)
async def add(caller: CallerOf, body: models.NewMemories) -> models.Ids:
    """Remember texts or messages."""
    given = {"timestamp": "now", **_given(body)}
    added = await caller.run(caller.memory.add, given.pop("content"), user_id=caller.user_id, **given)
    return models.Ids(ids=added, skipped=added.skipped, notes=list(added.notes))


@router.get("/memories")
async def list_memories(
    caller: CallerOf,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    cursor: str | None = None,
    session_id: str | None = None,
    agent_id: str | None = None,
) -> models.Page:
    """List memories in the order they were added, page by page."""

    def page() -> models.Page:
        after = None if cursor is None else caller.checked(cursor)
        found = caller.memory.list(
            limit=limit, cursor=after, user_id=caller.user_id, session_id=session_id, agent_id=agent_id
        )
        following = None if found.cursor is None else caller.signed(found.cursor)
        return models.Page(memories=[models.Memory.model_validate(node) for node in found], cursor=following)

    return await caller.run(page)


@router.delete("/memories")
async def erase(caller: CallerOf) -> models.Count:
    """Delete all memories of the user."""
    if caller.user_id is None:
        raise HTTPException(400, "name the user whose memories are deleted: ?user_id=…")
    return models.Count(count=await caller.run(caller.memory.delete, user_id=caller.user_id))


@router.get("/memories/{memory_id}")
async def read(caller: CallerOf, memory_id: str) -> models.Memory:
    """Read a memory."""
    return await caller.run(lambda: models.Memory.model_validate(caller.visible(memory_id)))


@router.patch("/memories/{memory_id}")
async def update(caller: CallerOf, memory_id: str, body: models.Change) -> models.Memory:
    """Write a new version of a memory."""

    def updated() -> models.Memory:
        caller.changeable(memory_id)
        return models.Memory.model_validate(caller.memory.update(memory_id, **_given(body)))

    return await caller.run(updated)


@router.delete("/memories/{memory_id}")
async def delete(caller: CallerOf, memory_id: str) -> models.Count:
    """Delete a memory; `undo` takes it back."""
    return models.Count(count=await caller.run(lambda: caller.memory.delete(caller.changeable(memory_id).id)))


@router.post("/recall")
async def recall(caller: CallerOf, body: models.Question) -> models.Recall:
    """Return the memories that a question recalls, best first."""

    def answer() -> models.Recall:
        options = _given(body)
        explain = options.pop("explain")
        found = caller.memory.recall(user_id=caller.user_id, **options)
        if not explain:
            found = replace(found, memories=tuple(replace(one, path=(), flows=()) for one in found))
        told = models.Recall.model_validate(found)
        return told if explain else told.model_copy(update={"kernel": None})

    return await caller.run(answer)


@router.post("/context")
async def context(caller: CallerOf, body: models.Task) -> models.Context:
    """Return the memories that help with a task as text for a prompt."""

    def build() -> models.Context:
        return models.Context.model_validate(caller.memory.get_context(user_id=caller.user_id, **_given(body)))

    return await caller.run(build)


@router.post("/feedback")
async def feedback(caller: CallerOf, body: models.Outcome) -> models.Count:
    """Learn from an outcome; the count is that of the changed edges.

    Shared memories learn only by a key for all users.
    """

    def learn() -> models.Count:
        ids = [caller.visible(one).id for one in dict.fromkeys(body.ids)]
        user_id = None if caller.is_admin else caller.user_id
        return models.Count(count=int(caller.memory.learning.feedback(ids, body.outcome, user_id=user_id)))

    return await caller.run(learn)
