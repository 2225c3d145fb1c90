"""API keys: a file with the hash of each key; and `Caller`, the memory as the holder of a key sees it."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import logging
import secrets
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from operator import xor
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, ParamSpec, TypeVar

from neurogated.core.extras import needs_extra
from neurogated.core.files import make_folder, private, replace_file
from neurogated.core.model import MemoryNode
from neurogated.errors import ConfigError, InputError, UnknownIdError
from neurogated.memory import NeuroGraphMemory
from neurogated.server.queue import CallQueue, IsGone
from neurogated.text.strings import composed

if sys.platform == "linux":
    import fcntl

with needs_extra("serve"):
    from fastapi import Depends, HTTPException, Query, Request
    from fastapi.security import HTTPBearer

# Whoever could make a cursor would learn whether another user has a text, since ids are hashes of texts; and numbers of
# changes would tell how much others write.
_SECRET, _SALT = secrets.token_bytes(32), 16

P = ParamSpec("P")
T = TypeVar("T")
_log = logging.getLogger(__name__)
NO_KEY = 401, "give a key of this server in the header 'Authorization: Bearer KEY'"


@dataclass(frozen=True, slots=True)
class Grant:
    """What a request may see and change."""

    namespace: str
    """The graph."""
    user_id: str | None = None
    """The only user; None for all users of the graph."""
    key: str = ""
    """The hash of the key; empty without a key."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "user_id", self.user_id and composed(self.user_id))


class Keys:
    """The keys of a server."""

    def __init__(self, grants: Mapping[str, Grant] = MappingProxyType({}), file: Path | None = None) -> None:
        """Take the grants by the SHA-256 of their keys. A key has 256 random bits, so its hash needs no salt.

        Keys that are removed from the file, or added for the same namespaces, count from the next request on.
        """
        self.grants = {digest: replace(grant, key=digest) for digest, grant in grants.items()}
        self._namespaces = {grant.namespace for grant in grants.values()}
        self._file, self._version = file, _version(file)

    @classmethod
    def read(cls, file: Path) -> Keys:
        """Return the keys of a file; none if there is no file. Raises ConfigError if it is not a file of keys."""
        version = _version(file)
        try:
            stored = json.loads(file.read_text(encoding="utf-8"))
            keys = cls({digest: Grant(**grant) for digest, grant in stored.items()}, file)
        except FileNotFoundError:
            keys = cls(file=file)
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise ConfigError(f"{file} is not a file of keys ({error}); remove it and create new keys") from error
        keys._version = version
        return keys

    def create(self, file: Path, grant: Grant) -> str:
        """Add a new key to the file, which only its owner may read, and return the key. It is stored as a hash only."""
        key = f"ng-{secrets.token_urlsafe(32)}"
        make_folder(file.parent)
        with open(file.with_name(f".{file.name}.lock"), "w", opener=private) as lock:
            if sys.platform == "linux":  # two commands at once
                fcntl.flock(lock, fcntl.LOCK_EX)
            self.grants = Keys.read(file).grants | {_digest(key): replace(grant, key=_digest(key))}
            stored = {one.key: {"namespace": one.namespace, "user_id": one.user_id} for one in self.grants.values()}
            replace_file(file, json.dumps(stored, indent=2))
        return key

    def grant_of(self, authorization: str) -> Grant | None:
        """Return the grant of a header `Authorization: Bearer KEY`; None if the key is missing or unknown."""
        if self._file is not None and (version := _version(self._file)) != self._version:
            self._version = version
            try:
                grants = Keys.read(self._file).grants
                self.grants = {name: grant for name, grant in grants.items() if grant.namespace in self._namespaces}
            except ConfigError as error:
                _log.error("%s; the keys that were read before still count", error)
        scheme, _, key = authorization.partition(" ")
        return self.grants.get(_digest(key.strip())) if scheme.lower() == "bearer" else None


def _version(file: Path | None) -> tuple[int, ...] | None:
    """Return what tells one version of a file from the next; None without a file."""
    try:
        about = None if file is None else file.stat()
    except OSError:
        about = None
    return None if about is None else (about.st_ino, about.st_mtime_ns, about.st_size)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


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
