"""`Caller`: the memory as the holder of a key sees it."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import xor
from typing import Annotated, ParamSpec, TypeVar

from neurogated.core.extras import needs_extra
from neurogated.core.model import MemoryNode
from neurogated.errors import InputError, UnknownIdError
from neurogated.memory import NeuroGraphMemory
from neurogated.server.keys import NO_KEY, Grant
from neurogated.server.queue import CallQueue, IsGone
from neurogated.text.strings import composed

with needs_extra("serve"):
    from fastapi import Depends, HTTPException, Query, Request
    from fastapi.security import HTTPBearer

# Whoever could make a cursor would learn whether another user has a text, since ids are hashes of texts; and numbers of
# changes would tell how much others write.
_SECRET, _SALT = secrets.token_bytes(32), 16

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. A caller sees the memories of one user, and those without an owner."""

    memory: NeuroGraphMemory
    """The graph of the key."""
    user_id: str | None
    """The user; None for the memories without an owner only."""
    grant: Grant
    """That of the key."""
    queue: CallQueue
    """Decides which calls run next."""
    request: Request

    async def run_as(self, kind: str, call: Callable[[], T], is_gone: IsGone | None = None) -> T:
        """Await a blocking call in a thread of the memory, when it is the turn of this user; see `CallQueue`."""
        return await self.queue.run(self.grant, kind, lambda: self.memory.aio.run(call), is_gone, user=self.user_id)

    async def run(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Await a blocking call of this request, unless its client is gone when its turn comes."""
        kind = getattr(self.request.scope.get("route"), "name", "")
        return await self.run_as(kind, partial(call, *args, **kwargs), self.request.is_disconnected)

    @property
    def is_admin(self) -> bool:
        """Whether the key is for all users of the graph."""
        return self.grant.user_id is None

    def visible(self, node_id: str) -> MemoryNode:
        """Return a memory; raises UnknownIdError if there is none, or if it is another user's."""
        for node in self.memory.store.get_nodes([node_id], missing_ok=True):
            if node.scope.user_id in {self.user_id, None} and not node.has_expired(self.memory.session.clock()):
                return node
        raise UnknownIdError(f"there is no memory {node_id!r}")

    def changeable(self, node_id: str) -> MemoryNode:
        """Return a memory that the caller may change: her own, or with a key for all users one without an owner."""
        node = self.visible(node_id)
        if node.scope.user_id is None and not self.is_admin:
            raise HTTPException(403, f"the memory {node_id!r} is shared; only a key for all users changes it")
        return node

    def deletable(self, node_id: str) -> str:
        """Return the id of a memory that the caller may delete, or that was her own and is deleted already."""
        gone = self.memory.store.view().scope_of_removed(node_id)
        return node_id if gone is not None and gone.user_id == self.user_id else self.changeable(node_id).id

    def sealed(self, cursor: str) -> str:
        """Return a cursor that only this caller can use, and only until the server ends."""
        seal, words = self._seal(cursor), cursor.encode()
        return (seal + bytes(map(xor, words, hashlib.shake_256(_SECRET + seal).digest(len(words))))).hex()

    def opened(self, sealed: str) -> str:
        """Return the cursor that was sealed for this caller; raises InputError."""
        with contextlib.suppress(ValueError):
            seal, words = (held := bytes.fromhex(sealed))[:_SALT], held[_SALT:]
            cursor = bytes(map(xor, words, hashlib.shake_256(_SECRET + seal).digest(len(words)))).decode()
            if hmac.compare_digest(self._seal(cursor), seal):
                return cursor
        raise InputError("the cursor belongs to no page of yours since the server started; list from the beginning")

    def _seal(self, cursor: str) -> bytes:
        owner = f"{self.memory.config.namespace}\0{self.user_id}\0{cursor}"
        return hmac.digest(_SECRET, owner.encode(), "sha256")[:_SALT]


async def grant_in(request: Request) -> Grant:
    """Return the grant of a request's key; answers 401 without a known key."""
    if request.state.grant is None:
        raise HTTPException(*NO_KEY)
    grant: Grant = request.state.grant
    return grant


async def caller_of(
    grant: Annotated[Grant, Depends(grant_in)],
    request: Request,
    user_id: Annotated[str | None, Query(description="The user, with a key for all users or without keys.")] = None,
) -> Caller:
    """Return the caller of a request; answers 403 if it names another user than that of its key."""
    user_id = user_id and composed(user_id)
    if grant.user_id is not None and user_id not in {grant.user_id, None}:
        raise HTTPException(403, "this key is for another user")
    memory: NeuroGraphMemory = request.app.state.graphs[grant.namespace]
    return Caller(memory, grant.user_id or user_id, grant, request.app.state.queue, request)


bearer = HTTPBearer(auto_error=False, description="A key of this server; none is needed on loopback without keys.")
CallerOf = Annotated[Caller, Depends(caller_of)]
"""The type of a route's parameter `caller`."""
