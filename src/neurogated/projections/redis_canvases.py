"""`RedisCanvases`: the working canvases of a memory in Redis, shared by processes."""

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from neurogated.core.projections import CanvasKey
from neurogated.errors import ConfigError, StorageError

_PREFIX = "neurogated:canvas"
# No memory has an empty id. On a canvas that was built completely, this member is the first.
_COMPLETE = ""
_AT_ONCE = 500


class RedisCanvases:
    """Holds each canvas in a sorted set; see `CanvasStorage`.

    Keys are hashes and members are ids of memories, so Redis holds neither texts nor names of users. Unused canvases
    expire.
    """

    def __init__(self, url: str, memory: str, *, seconds: float, lifetime: float) -> None:
        """Describe the server; it is reached at the first call.

        Args:
            url: `redis://HOST:PORT/DATABASE`, `rediss://…` or `unix://PATH`.
            memory: the identity of the memory, which is a part of all keys.
            seconds: how long a call waits for the server.
            lifetime: seconds after which an unused canvas expires.

        Raises:
            ConfigError: the URL is of another kind.
        """
        parts = urlsplit(url)
        user, at, host = parts.netloc.rpartition("@")
        query = [(name, value) for name, value in parse_qsl(parts.query) if name != "password"]
        server = f"{user.partition(':')[0]}{at}{host}".removeprefix("@")
        self.place = f"{parts.scheme}://{server}{parts.path}{'?' if query else ''}{urlencode(query)}"
        self._prefix = f"{_PREFIX}:{memory}"
        self._lifetime = max(1, round(lifetime))
        try:
            self._client = redis.Redis.from_url(
                url,
                socket_timeout=seconds,
                socket_connect_timeout=seconds,
                decode_responses=True,
                retry=Retry(NoBackoff(), 0),
            )
        except ValueError:
            # The message does not quote the URL, which may have a password.
            raise ConfigError("metabolism.canvas_url must be redis://HOST, rediss://HOST or unix://PATH") from None

    def enter(self, key: CanvasKey, scores: Mapping[str, float], size: int, *, complete: bool = False) -> None:
        name, index = self._name(key), self._index(key.graph)
        members = {**scores, _COMPLETE: math.inf} if complete else dict(scores)
        if not members:
            return
        with self._translated(), self._client.pipeline() as batch:
            batch.zadd(name, members, gt=True)
            batch.zremrangebyrank(name, 0, -(size + 1) - 1)
            batch.sadd(index, name)
            batch.sadd(self._prefix, index)
            for one in (name, index, self._prefix):
                batch.expire(one, self._lifetime)
            batch.execute()

    def read(self, key: CanvasKey, size: int) -> dict[str, float] | None:
        with self._translated():
            members: list[Any] = self._client.zrange(self._name(key), 0, size, desc=True, withscores=True)
        if not members or members[0][0] != _COMPLETE:
            return None
        return {str(name): float(score) for name, score in members[1:]}

    def remove(self, graph: str, ids: Iterable[str]) -> None:
        wanted = list(ids)
        with self._translated():
            names = sorted(self._client.smembers(self._index(graph)))
            for begin in range(0, len(names), _AT_ONCE):
                with self._client.pipeline(transaction=False) as batch:
                    for name in names[begin : begin + _AT_ONCE]:
                        batch.zrem(name, *wanted)
                    batch.execute()

    def clear(self) -> None:
        """Remove all canvases of the memory."""
        with self._translated():
            for index in self._client.smembers(self._prefix):
                self._client.delete(*self._client.smembers(index), index)
            self._client.delete(self._prefix)

    def erase(self) -> None:
        """Remove every key of the memory: a full server may have dropped the sets by which `clear` finds the others."""
        with self._translated():
            names = list(self._client.scan_iter(f"{self._prefix}*", count=_AT_ONCE))
            for begin in range(0, len(names), _AT_ONCE):
                self._client.delete(*names[begin : begin + _AT_ONCE])

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _index(self, graph: str) -> str:
        return f"{self._prefix}:{graph}"

    def _name(self, key: CanvasKey) -> str:
        return f"{self._index(key.graph)}:{key.scope}"

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (redis.RedisError, AttributeError, IndexError, RecursionError, TypeError, ValueError) as error:
            # The client trusts the server to answer as Redis does, and fails in these ways on other answers.
            raise StorageError(f"the canvas in {self.place} cannot be used ({error})") from error
