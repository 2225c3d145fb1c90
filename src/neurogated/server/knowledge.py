"""Routes of conflicts, facts, the history, the manifest and expressions."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import fields
from datetime import datetime
from itertools import islice
from typing import Annotated, Literal

from neurogated.components.manifest import BUDGET
from neurogated.core.conflicts import Conflict
from neurogated.core.delta import LATEST
from neurogated.core.extras import needs_extra
from neurogated.core.filters import NO_MEMORIES
from neurogated.core.model import MemoryNode
from neurogated.plasticity.undo import backwards_of
from neurogated.server import models
from neurogated.server.callers import Caller, CallerOf

with needs_extra("serve"):
    from fastapi import APIRouter, HTTPException, Query

router = APIRouter(tags=["knowledge"])
Limit = Annotated[int, Query(ge=1, le=1000)]
_AT_ONCE = 1000
_SECRET, _BYTES = secrets.token_bytes(32), 8
Cursor = Annotated[int, Query(ge=0, lt=2**31, description="That of the page before.")]


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
    answer = caller.memory.conflicts.resolve
    return await caller.run(answer, conflict_id, body.choice, because=body.because, user_id=caller.user_id)


@router.get("/facts")
async def facts(
    caller: CallerOf,
    *,
    subject: str | None = None,
    attribute: str | None = None,
    valid_at: datetime | None = None,
    limit: Limit = 50,
    cursor: Cursor = 0,
) -> models.Facts:
    """List what is known of subjects, page by page; facts that hold no longer have a `valid_to`."""
    find = caller.memory.facts.list
    found = await caller.run(
        find, subject, attribute, valid_at=valid_at, limit=limit + 1, offset=cursor, user_id=caller.user_id
    )
    return models.Facts(facts=found[:limit], cursor=cursor + limit if len(found) > limit else None)


@router.post("/facts", status_code=201)
async def state(caller: CallerOf, body: models.NewFact) -> models.Ids:
    """State a fact. The same fact stated again is the same memory."""
    fact = body.model_dump(exclude_unset=True)
    return models.Ids(ids=[await caller.run(caller.memory.facts.add, **fact, user_id=caller.user_id)])


@router.get("/history")
async def history(caller: CallerOf, limit: Limit = 50, cursor: str | None = None) -> models.Changes:
    """List changes, the latest first: those of the user, or without a user those of the whole graph."""

    def page() -> models.Changes:
        before = LATEST if cursor is None else _opened(caller.checked(cursor))
        found = list(islice(_entries(caller, before), limit))
        following = caller.signed(_sealed(found[-1][0])) if len(found) == limit else None
        return models.Changes(changes=[entry for _, entry in found], cursor=following)

    return await caller.run(page)


def _entries(caller: Caller, before: int) -> Iterator[tuple[int, models.Entry]]:
    """Yield the changes numbered below `before`, with their numbers."""
    store = caller.memory.store
    if caller.user_id is None:
        for last in range(min(before - 1, store.view().sequence), 0, -_AT_ONCE):
            for one in reversed(store.history(max(last - _AT_ONCE, 0), last)):
                yield one.sequence, models.Entry(at=one.at, sequence=one.sequence, reason=one.reason, memories=())
        return
    for entry, delta, gone in backwards_of(store, caller.user_id, before):
        changed = (*_versions(caller, "written", delta.nodes), *_versions(caller, "deleted", gone))
        if changed:
            # Numbers and reasons of changes would tell how much other users write.
            yield entry.sequence, models.Entry(at=entry.at, sequence=None, reason=None, memories=changed)


def _sealed(number: int) -> str:
    """Return the number of a change as a text in which only this server can read it."""
    salt = secrets.token_bytes(_BYTES)
    return (salt + (number ^ _pad(salt)).to_bytes(_BYTES)).hex()


def _opened(sealed: str) -> int:
    salt, number = bytes.fromhex(sealed)[:_BYTES], bytes.fromhex(sealed)[_BYTES:]
    return int.from_bytes(number) ^ _pad(salt)


def _pad(salt: bytes) -> int:
    return int.from_bytes(hmac.digest(_SECRET, salt, "sha256")[:_BYTES])


def _versions(
    caller: Caller, action: Literal["written", "deleted"], nodes: Iterable[MemoryNode]
) -> Iterator[models.Version]:
    """Yield what a change did to the memories of the caller's user."""
    for one in nodes:
        if one.scope.user_id == caller.user_id and one.kind not in NO_MEMORIES:
            yield models.Version(id=one.id, action=action, content=one.content)


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
        found = of.get(user_id=caller.user_id)
        values = models.attributes(found, (one.name for one in fields(found)))
        return models.Manifest(**values, text=of.text(budget=budget, user_id=caller.user_id))

    return await caller.run(built)


@router.post("/execute")
async def execute(caller: CallerOf, body: models.Expression) -> models.Result:
    """Run one expression."""
    run = caller.memory.execute
    return models.Result(
        result=await caller.run(run, body.expression, user_id=caller.user_id, read_only=body.read_only)
    )
