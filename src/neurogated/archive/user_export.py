"""All memories of one user, as lines that people and programs can read."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort

_PLAIN = ("content", "title", "role", "speaker", "kind", "importance", "uses", "position")
_TIMES = ("timestamp", "valid_from", "valid_to", "expires_at", "created_at", "last_accessed")


def user_lines(namespace: str, store: GraphStorePort, user_id: str) -> Iterator[str]:
    """Yield a line of JSON for each memory of a user, with all its versions.

    Deleted memories are included until a compaction removes them.
    """
    versions: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in store.journal():
        at = {"at": entry.delta.at.isoformat(), "reason": entry.delta.reason}
        for node in entry.delta.nodes:
            if node.scope.user_id == user_id:
                versions[node.id].append({**at, **_fields(node)})
        for node_id in entry.delta.removed_nodes:
            if node_id in versions:
                versions[node_id].append({**at, "deleted": True})
    for node_id, told in versions.items():
        yield json.dumps({"namespace": namespace, "id": node_id, "versions": told}, ensure_ascii=False) + "\n"


def _fields(node: MemoryNode) -> dict[str, Any]:
    values: dict[str, Any] = {name: getattr(node, name) for name in _PLAIN}
    values |= {name: _text(getattr(node, name)) for name in _TIMES}
    values |= {"agent_id": node.scope.agent_id, "session_id": node.scope.session_id, "path": list(node.scope.path)}
    values |= {"tags": list(node.tags), "metadata": dict(node.metadata), "found": node.found.to_json()}
    return {name: value for name, value in values.items() if value not in (None, [], {})}


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
