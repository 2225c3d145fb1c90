"""An engine for tests: logs over a plain dictionary, which several stores may share.

It is the complete code of a new engine. The dictionary contains texts and numbers alone, like a server's.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from neurogated.archive.lines import delta_from_json, delta_to_json, line_of
from neurogated.core.clock import from_micros, to_micros
from neurogated.core.delta import GraphDelta, HistoryEntry, JournalEntry
from neurogated.core.model import MemoryNode, Vector
from neurogated.core.operators import operator_from_json, operator_to_json
from neurogated.errors import MemoryLockedError
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.log.log import Position

__all__ = ["Dictionary", "DictionaryEngine", "DictionaryLog"]


class Dictionary:
    """The data of a server, and the lock of its writers."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {"namespaces": ["default"], "identity": secrets.token_hex()}
        self.lock = threading.RLock()
        self.holder: object = None


class DictionaryEngine:
    """A connection to a dictionary; see `neurogated.storage.log.log.Engine`."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.lock = threading.RLock()
        self._dictionary = dictionary
        # The changes of the open transaction, the newest on top.
        self._pending: list[dict[str, Any]] = []

    @property
    def identity(self) -> str:
        return str(self.look_up("identity", ""))

    def log(self, namespace: str) -> DictionaryLog:
        if namespace not in self.namespaces():
            self.write({"namespaces": [*self.namespaces(), namespace]})
        return DictionaryLog(self, namespace)

    def namespaces(self) -> list[str]:
        return list(self.look_up("namespaces", []))

    def drop_namespace(self, name: str) -> None:
        DictionaryLog(self, name).drop()
        self.write({"namespaces": [other for other in self.namespaces() if other != name]})

    @contextmanager
    def writing(self, patience: float | None = None) -> Iterator[None]:
        if not self._dictionary.lock.acquire(timeout=1.0 if patience is None else patience):
            raise MemoryLockedError("another store is writing to the dictionary; try again later")
        outer, self._dictionary.holder = self._dictionary.holder, self._pending
        try:
            # The lock admits the thread of another store of this engine, which must not write in between.
            if outer is not None and outer is not self._pending:
                raise MemoryLockedError("another store of this thread is writing to the dictionary")
            yield
        finally:
            self._dictionary.holder = outer
            self._dictionary.lock.release()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._pending.append({})
        try:
            yield
        except BaseException:
            self._pending.pop()
            raise
        written = self._pending.pop()
        (self._pending[-1] if self._pending else self._dictionary.data).update(written)

    @property
    def embedder(self) -> tuple[str, int] | None:
        found = self.look_up("embedder", None)
        return None if found is None else (str(found[0]), int(found[1]))

    def is_frozen(self) -> bool:
        return bool(self.look_up("frozen", default=False))

    def record_frozen(self, *, frozen: bool) -> None:
        self.write({"frozen": frozen})

    def copies(self) -> list[str]:
        return sorted(self.look_up("copies", default=[]))

    def record_copy(self, place: str, *, exists: bool) -> None:
        kept = {*self.copies()} - {place}
        self.write({"copies": sorted(kept | ({place} if exists else set()))})

    def record_embedder(self, name: str, dimension: int) -> None:
        self.write({"embedder": [name, dimension]})

    def close(self) -> None:
        """Do nothing, because the dictionary stays."""

    def look_up(self, key: str, default: Any) -> Any:  # noqa: ANN401 - JSON
        layers = [*reversed(self._pending), self._dictionary.data]
        return next((layer[key] for layer in layers if key in layer), default)

    def write(self, values: dict[str, Any]) -> None:
        # One update, so that no reader sees half of it.
        (self._pending[-1] if self._pending else self._dictionary.data).update(values)


class DictionaryLog:
    """The log of one graph; see `neurogated.storage.log.log.Log`."""

    def __init__(self, engine: DictionaryEngine, name: str) -> None:
        self._engine = engine
        self._name = name

    def position(self) -> Position:
        return Position(self._get("epoch", 0), self._get("count", 0))

    def append(self, plan: Plan, index: GraphIndex) -> int:  # noqa: ARG002 - the delta says all
        delta = plan.delta
        number = self.position().sequence + 1
        operators = [operator_to_json(operator) for operator in delta.operators]
        told = [number, to_micros(delta.at), delta.reason, dict(delta.changes), operators]
        self._put({f"delta {number}": _to_line(delta), f"told {number}": json.dumps(told), "count": number})
        return number

    def entries(self, after: int = 0) -> Iterator[JournalEntry]:
        for number in range(after + 1, self._get("count", 0) + 1):
            yield JournalEntry(number, _from_line(self._get(f"delta {number}")))

    def history(self) -> list[HistoryEntry]:
        told = (json.loads(self._get(f"told {number}")) for number in range(1, self._get("count", 0) + 1))
        return [
            HistoryEntry(number, from_micros(at), reason, changes, tuple(map(operator_from_json, operators)))
            for number, at, reason, changes, operators in told
        ]

    def rewrite(self, deltas: Sequence[GraphDelta]) -> None:
        lines = {f"delta {number}": _to_line(delta) for number, delta in enumerate(deltas, start=1)}
        self._put({**lines, "epoch": self._get("epoch", 0) + 1})

    def erased_up_to(self) -> int:
        return int(self._get("erased", 0))

    def record_erased(self, up_to: int) -> None:
        self._put({"erased": up_to})

    def drop(self) -> None:
        gone = {f"delta {number}": None for number in range(1, self._get("count", 0) + 1)}
        self._put({**gone, "count": 0, "erased": 0, "epoch": self._get("epoch", 0) + 1})

    def _get(self, key: str, default: Any = None) -> Any:  # noqa: ANN401 - JSON
        return self._engine.look_up(f"{json.dumps(self._name)} {key}", default)

    def _put(self, values: dict[str, Any]) -> None:
        self._engine.write({f"{json.dumps(self._name)} {key}": value for key, value in values.items()})


def _to_line(delta: GraphDelta) -> bytes:
    vectors: list[list[float]] = []

    def store(node: MemoryNode) -> int | None:
        if node.embedding is None:
            return None
        vectors.append([float(number) for number in node.embedding])
        return len(vectors) - 1

    return line_of({"delta": delta_to_json(delta, store), "vectors": vectors})


def _from_line(line: bytes) -> GraphDelta:
    values = json.loads(line)

    def read(number: int) -> Vector:
        found: list[float] = values["vectors"][number]
        return found

    return delta_from_json(values["delta"], read)
