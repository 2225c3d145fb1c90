"""The rows of nodes in the memory file: their records, their columns, and the names that rows refer to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import from_micros, moments, to_micros
from neurogated.core.columns import NODE_COLUMNS
from neurogated.core.found import NOTHING_FOUND, Found
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import register_kind
from neurogated.core.read_only import filled
from neurogated.core.scope import Scope
from neurogated.errors import InputError
from neurogated.storage.index.graph.topology import Topology
from neurogated.storage.index.graph.validity import micros_or_none
from neurogated.storage.index.records import NodeRecord
from neurogated.storage.log.sqlite.connection import fetch, fetch_columns
from neurogated.text.strings import checked_text

Keys = NDArray[np.int64]
Columns = dict[str, NDArray[Any]]

RECORD = ", ".join(f"v.{name}" for name in NodeRecord.__slots__)
"""The columns of a version `v` that `record_of` turns into a record."""
VALUES = ", ".join((*NodeRecord.__slots__, "base_energy", "energy_at", "importance", "kind", "scope"))
"""The columns of `node_versions` that `node_values` fills."""
_TIMES = ("created_at", "valid_from", "valid_to", "expires_at", "timestamp")
# The checks of `json.loads` take longer than it takes to parse short metadata.
_JSON = json.JSONDecoder()
_UNCHANGED = -1
"""Marks an energy or an importance that a change does not set."""


def moment_or_none(micros: int | None) -> Any:  # noqa: ANN401 - a datetime, or None
    """Return `micros` as a time; None for None."""
    return None if micros is None else from_micros(micros)


class NodeNumbers:
    """The file's numbers of kinds and scopes; unknown ones are inserted when they are asked for."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._known: dict[tuple[str, str], int] = {}

    def kind(self, kind: str) -> int:
        """Return the number of a kind."""
        return self._number("kinds", kind)

    def scope(self, scope: Scope) -> int | None:
        """Return the number of a scope; None for the empty scope."""
        if not scope:
            return None
        return self._number("scopes", _scope_to_json(scope))

    def _number(self, table: str, name: str) -> int:
        known = self._known.get((table, name))
        if known is None:
            find = f"SELECT number FROM {table} WHERE name = ?"
            if not (found := fetch(self._connection, find, (name,))):
                self._connection.execute(f"INSERT INTO {table} (name) VALUES (?)", (name,))
                found = fetch(self._connection, find, (name,))
            ((known,),) = found
            self._known[table, name] = known
        return known


def _scope_to_json(scope: Scope) -> str:
    """Return a scope as the file stores it."""
    return json.dumps([scope.user_id, scope.agent_id, scope.session_id, *scope.path], ensure_ascii=False)


def scope_from_json(text: str | None) -> Scope:
    """Return the scope that `_scope_to_json` wrote; the empty scope for None."""
    if text is None:
        return Scope()
    user_id, agent_id, session_id, *path = json.loads(text)
    return Scope(user_id, agent_id, session_id, tuple(path))


def node_values(node: MemoryNode, numbers: NodeNumbers) -> tuple[object, ...]:
    """Return the values of a node for a row of `node_versions`, in the order of `VALUES`.

    Raises:
        InputError: the metadata was changed after the node was created, and is no longer JSON.
    """
    try:
        metadata = json.dumps(dict(node.metadata), ensure_ascii=False, allow_nan=False)
        checked_text("metadata", metadata)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the metadata of node {node.id!r} was changed and is no longer JSON ({error})") from None
    record: dict[str, object] = NodeRecord.of(node).fields()
    record |= {name: micros_or_none(getattr(node, name)) for name in _TIMES}
    record["metadata"], record["tags"] = metadata, json.dumps(node.tags, ensure_ascii=False) if node.tags else None
    record["found"] = _found_to_json(node.found)
    return (
        *record.values(),
        node.base_energy,
        None if node.energy_at == node.created_at else micros_or_none(node.energy_at),
        node.importance,
        numbers.kind(node.kind),
        numbers.scope(node.scope),
    )


def access_values(node: MemoryNode, sequence: int) -> tuple[object, ...]:
    """Return the values of a node for a row of `accesses`, which the delta `sequence` writes."""
    charged_at = None if node.charged_at == node.created_at else micros_or_none(node.charged_at)
    return to_micros(node.last_accessed), node.uses, sequence, node.charge, charged_at


def _found_to_json(found: Found) -> str | None:
    return json.dumps(values, ensure_ascii=False) if (values := found.to_json()) else None


def found_from_json(text: str | None) -> Found:
    """Return the findings stored in the file for a text."""
    return NOTHING_FOUND if text is None else Found.restored(_JSON.raw_decode(text)[0])


def record_of(values: Iterable[Any]) -> NodeRecord:
    """Return the record from the columns `RECORD`."""
    record = dict(zip(NodeRecord.__slots__, values, strict=True))
    given = [name for name in _TIMES if record[name] is not None]
    record |= zip(given, moments([record[name] for name in given]), strict=True)
    text = record["metadata"]
    record["metadata"] = {} if text == "{}" else _JSON.raw_decode(text)[0]
    record["tags"] = tuple(_JSON.raw_decode(record["tags"])[0]) if record["tags"] else ()
    record["found"] = found_from_json(record["found"])
    if (given := record["found"].given) is not None:
        # Files of older versions hold computed valid times beside the given ones.
        record |= {"valid_from": given[0], "valid_to": given[1], "found": replace(record["found"], given=None)}
    return filled(NodeRecord, record)


def given_micros(found: str, times: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    """Return the valid time that a memory had without conflicts in a file of an older version, else `times`."""
    given = found_from_json(found).given
    return times if given is None else (micros_or_none(given[0]), micros_or_none(given[1]))


def read_columns(
    connection: apsw.Connection, topology: Topology, index: str, condition: str, values: Mapping[str, Any]
) -> tuple[Keys, Columns]:
    """Return the file's numbers of nodes, ascending, and the columns of their selected versions.

    Args:
        connection: a connection to the file.
        topology: defines the numbers of kinds and scopes in the columns; missing ones are added to it.
        index: an index hint for `node_versions`, in SQL.
        condition: selects versions `v` of nodes `n`, in SQL; at most one per node.
        values: the parameters of the condition.
    """
    key, *found = fetch_columns(
        connection,
        "SELECT v.node, v.base_energy, coalesce(v.energy_at, v.created_at), v.importance, coalesce(a.uses, 0), "
        "coalesce(a.charge, 0), coalesce(a.charged_at, v.created_at), coalesce(a.last_accessed, 0), "
        "v.kind, coalesce(v.scope, 0), coalesce(v.position, -1) "
        f"FROM node_versions v {index} JOIN nodes n ON n.node = v.node LEFT JOIN accesses a ON a.node = v.node "
        f"WHERE {condition} ORDER BY v.node",
        values,
        (np.int64, *NODE_COLUMNS.values()),
    )
    columns = dict(zip(NODE_COLUMNS, found, strict=True))
    kinds, numbers = _names(connection, "kinds", columns["kind"])
    columns["kind"] = topology.kind_codes(register_kind(str(kind)) for kind in kinds)[numbers]
    scopes, numbers = _names(connection, "scopes", columns["scope"])
    columns["scope"] = topology.scope_codes(map(scope_from_json, scopes))[numbers]
    return key, columns


def read_changes(
    connection: apsw.Connection, condition: str, values: Mapping[str, Any]
) -> dict[str, tuple[Keys, NDArray[Any]]]:
    """Return, for each column, the nodes whose value changed after their version was put, and their last values.

    `condition` selects changes `c` of versions `v` of nodes `n`, in SQL.
    """
    key, energy, moment, importance = fetch_columns(
        connection,
        f"SELECT c.node, coalesce(c.energy, {_UNCHANGED}), coalesce(c.energy_at, 0), "
        f"coalesce(c.importance, {_UNCHANGED}) FROM node_changes c "
        "JOIN node_versions v ON v.node = c.node AND v.since < c.since JOIN nodes n ON n.node = c.node "
        f"WHERE {condition} ORDER BY c.node, c.since",
        values,
        (np.int64, np.float64, np.int64, np.float64),
    )
    charged, rated = energy != _UNCHANGED, importance != _UNCHANGED
    last, last_rated = last_of_each(key[charged]), last_of_each(key[rated])
    return {
        "base_energy": (key[charged][last], energy[charged][last]),
        "energy_at": (key[charged][last], moment[charged][last]),
        "importance": (key[rated][last_rated], importance[rated][last_rated]),
    }


def last_of_each(keys: Keys) -> NDArray[np.bool_]:
    """Return a mask of the last key of each run of equal keys."""
    last = np.ones(keys.size, dtype=np.bool_)
    last[:-1] = keys[1:] != keys[:-1]
    return last


def _names(connection: apsw.Connection, table: str, numbers: NDArray[Any]) -> tuple[list[str | None], Keys]:
    """Return the distinct names that the file's numbers refer to, and the place of the name of each number."""
    distinct, places = np.unique(numbers, return_inverse=True)
    rows = fetch(
        connection,
        f"SELECT t.name FROM json_each(?) j LEFT JOIN {table} t ON t.number = j.value ORDER BY j.key",
        (json.dumps(distinct.tolist()),),
    )
    return [name for (name,) in rows], places
