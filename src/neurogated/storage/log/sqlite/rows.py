"""Read the rows of a memory file as of a delta: nodes with their columns and records, edges and weights."""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import apsw
import numpy as np
from numpy.typing import DTypeLike, NDArray

from neurogated.core.clock import from_micros, moments, to_micros
from neurogated.core.columns import NODE_COLUMNS, contained
from neurogated.core.delta import LATEST, Decay
from neurogated.core.edge_type import EdgeType
from neurogated.core.found import Found, Said, zone_of
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import register_kind
from neurogated.core.read_only import filled_all
from neurogated.core.scope import Scope
from neurogated.core.view import Rows
from neurogated.errors import CorruptMemoryError, InputError
from neurogated.storage.index.graph.topology import Fading, Topology
from neurogated.storage.index.graph.validity import Validity, micros_or_none
from neurogated.storage.index.graph_index import RECORD_FIELDS, EdgeRecord, NodeRecord, RecordsErasedError
from neurogated.storage.log.sqlite.connection import fetch, fetch_columns
from neurogated.storage.log.sqlite.file import SqliteFile
from neurogated.text.strings import checked_text

Keys = NDArray[np.int64]
Columns = dict[str, NDArray[Any]]

RECORD = ", ".join(f"v.{name}" for name in NodeRecord.__slots__)
"""The columns of a version `v` that `records_of` turns into a record."""
VALUES = ", ".join((*NodeRecord.__slots__, "base_energy", "energy_at", "importance", "kind", "scope"))
"""The columns of `node_versions` that `node_values` fills."""
_TIMES = ("created_at", "valid_from", "valid_to", "expires_at", "timestamp")
# The checks of `json.loads` take longer than it takes to parse short metadata.
_JSON = json.JSONDecoder()
_WRITTEN = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_UNCHANGED = -1
"""Marks an energy or an importance that a change does not set."""


def moment_or_none(micros: int | None) -> Any:  # noqa: ANN401 - a datetime, or None
    """Return `micros` as a time; None for None."""
    return None if micros is None else from_micros(micros)


class NodeNumbers:
    """The file's numbers of kinds and scopes; unknown ones are inserted when they are asked for."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._known: dict[str | Scope, int | None] = {}

    def kind(self, kind: str) -> int | None:
        """Return the number of a kind."""
        if kind not in self._known:
            self._known[kind] = self._number("kinds", kind)
        return self._known[kind]

    def scope(self, scope: Scope) -> int | None:
        """Return the number of a scope; None for the empty scope."""
        if scope not in self._known:
            parts = [scope.user_id, scope.agent_id, scope.session_id, *scope.path]
            self._known[scope] = self._number("scopes", _WRITTEN(parts)) if scope else None
        return self._known[scope]

    def _number(self, table: str, name: str) -> int:
        find = f"SELECT number FROM {table} WHERE name = ?"
        if not (found := fetch(self._connection, find, (name,))):
            self._connection.execute(f"INSERT INTO {table} (name) VALUES (?)", (name,))
            found = fetch(self._connection, find, (name,))
        return int(found[0][0])


def scope_from_json(text: str | None) -> Scope:
    """Return the scope that a file stores as text; the empty scope for None."""
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
        metadata = checked_text("metadata", _WRITTEN(dict(node.metadata))) if node.metadata else "{}"
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the metadata of node {node.id!r} was changed and is no longer JSON ({error})") from None
    record: dict[str, Any] = dict(zip(NodeRecord.__slots__, RECORD_FIELDS(node), strict=True))
    for name in _TIMES:
        record[name] = None if record[name] is None else to_micros(record[name])
    record["metadata"], record["tags"] = metadata, _WRITTEN(node.tags) if node.tags else None
    record["found"] = _WRITTEN(values) if (values := node.found.to_json()) else None
    return (
        *record.values(),
        node.base_energy,
        None if node.energy_at == node.created_at else micros_or_none(node.energy_at),
        node.importance,
        numbers.kind(node.kind),
        numbers.scope(node.scope),
    )


def found_from_json(texts: Iterable[str | None]) -> list[Found]:
    """Return the findings stored in the file for some texts, at least one."""
    return Found.restored(_decoded(texts, "{}"))


def _decoded(texts: Iterable[str | None], empty: str) -> list[Any]:
    """Return JSON values, which are read as one list; `empty` stands for None."""
    decoded: list[Any] = _JSON.raw_decode(f"[{','.join([text or empty for text in texts])}]")[0]
    return decoded


def records_of(rows: Iterable[Sequence[Any]]) -> list[NodeRecord]:
    """Return the records from rows of the columns `RECORD`."""
    columns: dict[str, Any] = dict(zip(NodeRecord.__slots__, map(list, zip(*rows, strict=True)), strict=False))
    if not columns:
        return []
    columns |= {name: moments(columns[name]) for name in _TIMES}
    columns["metadata"] = _decoded(columns["metadata"], "{}")
    columns["tags"] = list(map(tuple, _decoded(columns["tags"], "[]")))
    columns["found"] = found_from_json(columns["found"])
    for place, found in enumerate(columns["found"]):
        if found.given is not None:
            # Files of older versions hold computed valid times beside the given ones.
            columns["valid_from"][place], columns["valid_to"][place] = found.given
            columns["found"][place] = replace(found, given=None)
    return filled_all(NodeRecord, columns)


def since_index(table: str, since: int, otherwise: str = "") -> str:
    """Return which SQL index finds the rows of a table later than a delta; from the beginning it is `otherwise`."""
    if since:
        return f"INDEXED BY {table}_since"
    return f"INDEXED BY {otherwise}" if otherwise else "NOT INDEXED"


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


NOW = LATEST
"""A delta number greater than all others, the largest that SQLite holds."""
UNCHANGED = -(2**63)
"""Marks a time that a change does not set."""
HOLDS = "{0}.since <= :now AND ({0}.until IS NULL OR {0}.until > :now)"
"""SQL condition: the version in the table with alias {0} is current after the delta `:now`."""


@dataclass(frozen=True, slots=True)
class GraphLoader:
    """Reads one namespace as of the delta `as_of`.

    Edges are read in the order in which they were added, so that sums over them are the same to the last bit.
    """

    connection: apsw.Connection
    namespace: int
    types: Mapping[int, EdgeType]
    as_of: int

    def load_weights(self, topology: Topology, node_keys: Keys, among: str = "") -> Keys:
        """Append the edges with their weights at that time to a topology without edges; return the file's numbers.

        `node_keys` are the file's numbers of all node rows, `among` is an SQL condition on the edge `e`.
        """
        edge_keys, since = self.append_edges(topology, node_keys, among)
        self.replay_operators(since, topology, edge_keys)
        self.load_uses(topology, edge_keys)
        return edge_keys

    def append_edges(self, topology: Topology, node_keys: Keys, among: str) -> tuple[Keys, Keys]:
        """Append the edges with their last recorded weights; return each edge's number and the delta of its weight.

        See `load_weights`.
        """
        edge, source, target, code, since, weight, activated = self.columns(
            "SELECT e.edge, e.source, e.target, e.type, coalesce(w.since, e.since), coalesce(w.weight, e.weight), "
            "coalesce(w.last_activated, e.last_activated, e.created_at, d.at) "
            "FROM edges e JOIN nodes n ON n.node = e.source JOIN deltas d ON d.sequence = e.since "
            "LEFT JOIN edge_weights w ON w.edge = e.edge AND w.since <= :now "
            f"WHERE n.namespace = :namespace AND {HOLDS.format('e')} {among} ORDER BY e.edge, w.since",
            *([np.int64] * 5),
            np.float64,
            np.int64,
        )
        # The last recorded weight of an edge is current.
        current = last_of_each(edge)
        file_codes, places = np.unique(code[current], return_inverse=True)
        codes = topology.type_codes(self.types[value] for value in file_codes.tolist())[places]
        ends = rows_of(source[current], node_keys), rows_of(target[current], node_keys)
        topology.append_edges(ends, codes, weight[current], activated[current])
        return edge[current], since[current]

    def load_edge_validity(self, validity: Validity, edge_keys: Keys, after: int = 0) -> None:
        """Load the validity of the edges added after the delta `after`.

        `edge_keys` are the file's numbers of all rows, ascending.
        """
        for key, begin, end in self.query(
            "SELECT e.edge, e.valid_from, e.valid_to "
            f"FROM edges e {since_index('edges', after, 'edges_lasting')} JOIN nodes n ON n.node = e.source "
            f"WHERE (e.valid_from IS NOT NULL OR e.valid_to IS NOT NULL) AND n.namespace = :namespace "
            f"AND {HOLDS.format('e')} AND e.since > {after}"
        ):
            validity.put_edge(int(np.searchsorted(edge_keys, key)), begin, end)

    def query(self, statement: str, **values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query, which may name the namespace and the delta as `:namespace` and `:now`."""
        return fetch(self.connection, statement, {"namespace": self.namespace, "now": self.as_of, **values})

    def columns(self, statement: str, *kinds: DTypeLike, **values: object) -> list[NDArray[Any]]:
        """Return the columns of a query of numbers; see `query`."""
        values = {"namespace": self.namespace, "now": self.as_of, **values}
        return fetch_columns(self.connection, statement, values, kinds)

    def node_columns(self, topology: Topology, index: str, condition: str, **values: object) -> tuple[Keys, Columns]:
        """Return the file's numbers of nodes, ascending, and the columns of their selected versions.

        Args:
            topology: defines the numbers of kinds and scopes in the columns; missing ones are added to it.
            index: an index hint for `node_versions`, in SQL.
            condition: selects versions `v` of nodes `n`, in SQL, with `values`; at most one per node.
            values: the parameters of the condition.
        """
        key, *found = self.columns(
            "SELECT v.node, v.base_energy, coalesce(v.energy_at, v.created_at), v.importance, coalesce(a.uses, 0), "
            "coalesce(a.charge, 0), coalesce(a.charged_at, v.created_at), coalesce(a.last_accessed, 0), "
            "v.kind, coalesce(v.scope, 0), coalesce(v.position, -1) "
            f"FROM node_versions v {index} JOIN nodes n ON n.node = v.node LEFT JOIN accesses a ON a.node = v.node "
            f"WHERE {condition} ORDER BY v.node",
            np.int64,
            *NODE_COLUMNS.values(),
            **values,
        )
        columns = dict(zip(NODE_COLUMNS, found, strict=True))
        kinds, numbers = _names(self.connection, "kinds", columns["kind"])
        columns["kind"] = topology.kind_codes(register_kind(str(kind)) for kind in kinds)[numbers]
        scopes, numbers = _names(self.connection, "scopes", columns["scope"])
        columns["scope"] = topology.scope_codes(map(scope_from_json, scopes))[numbers]
        return key, columns

    def changes(self, condition: str, index: str = "", **values: object) -> dict[str, tuple[Keys, NDArray[Any]]]:
        """Return, for each column, the nodes whose value changed after their version was put, and their last values.

        `condition` selects changes `c` of versions `v` of nodes `n`, in SQL; `index` is a hint for `node_changes`,
        which are then read first.
        """
        key, energy, moment, importance = self.columns(
            f"SELECT c.node, coalesce(c.energy, {_UNCHANGED}), coalesce(c.energy_at, 0), "
            f"coalesce(c.importance, {_UNCHANGED}) FROM node_changes c {index and index + ' CROSS'} "
            "JOIN node_versions v ON v.node = c.node AND v.since < c.since JOIN nodes n ON n.node = c.node "
            f"WHERE {condition} ORDER BY c.node, c.since",
            *(np.int64, np.float64, np.int64, np.float64),
            **values,
        )
        charged, rated = energy != _UNCHANGED, importance != _UNCHANGED
        last, last_rated = last_of_each(key[charged]), last_of_each(key[rated])
        return {
            "base_energy": (key[charged][last], energy[charged][last]),
            "energy_at": (key[charged][last], moment[charged][last]),
            "importance": (key[rated][last_rated], importance[rated][last_rated]),
        }

    def last_sequence(self) -> int:
        """Return the number of the last delta of the namespace."""
        ((sequence,),) = self.query(
            "SELECT coalesce(max(sequence), 0) FROM deltas WHERE namespace = :namespace AND sequence <= :now"
        )
        return int(sequence)

    def load_node_validity(self, validity: Validity, node_keys: Keys, after: int = 0) -> None:
        """Load the validity and the expiry of the nodes changed after the delta `after`."""
        for key, begin, end, expires, found in self.query(
            "SELECT v.node, v.valid_from, v.valid_to, v.expires_at, CASE WHEN v.found LIKE '%given%' THEN v.found END "
            f"FROM node_versions v {since_index('node_versions', after, 'node_versions_lasting')} "
            "JOIN nodes n ON n.node = v.node "
            "WHERE (v.valid_from IS NOT NULL OR v.valid_to IS NOT NULL OR v.expires_at IS NOT NULL) "
            f"AND n.namespace = :namespace AND {HOLDS.format('v')} AND v.since > {after}"
        ):
            # In a file of an older version, these times may follow from conflicts.
            given = None if found is None else found_from_json([found])[0].given
            since, until = (begin, end) if given is None else map(micros_or_none, given)
            validity.put_node(int(np.searchsorted(node_keys, key)), since, until, expires)

    def replay_operators(self, since: Keys, topology: Topology, edge_keys: Keys, after: int = 0) -> None:
        """Apply the operators journaled after the delta `after` to the weights that are older than each.

        `since` (edges,) are the deltas that set the weights, `edge_keys` (edges,) the file's numbers, ascending.
        """
        rows = self.query(
            "SELECT sequence, operators, spared FROM deltas WHERE namespace = :namespace AND sequence <= :now "
            f"AND sequence > {after} AND spared IS NOT NULL ORDER BY sequence"
        )
        fadings = [
            Fading(number, operator, rows_of(spared[contained(edge_keys, spared)], edge_keys))
            for number, text, blob in rows
            for operator, spared in zip(operators_from_json(text), keys_from_blob(blob), strict=True)
        ]
        topology.decay(fadings, since)

    def load_uses(self, topology: Topology, edge_keys: Keys, after: int = 0) -> None:
        """Load the last uses of edges that deltas after `after` recorded.

        Replay the operators first: each operator lists the edges that had been used.
        """
        keys, moments = self.columns(
            f"SELECT u.edge, u.last_activated FROM edge_uses u {since_index('edge_uses', after)} "
            "JOIN edges e ON e.edge = u.edge "
            "JOIN nodes n ON n.node = e.source "
            f"WHERE u.since > {after} AND u.since <= :now AND n.namespace = :namespace ORDER BY u.edge",
            np.int64,
            np.int64,
        )
        known = contained(edge_keys, keys)
        topology.set(np.searchsorted(edge_keys, keys[known]), last_activated=moments[known])


def vectors_of(node_keys: Keys, vectors: list[tuple[int, bytes]]) -> tuple[Keys, NDArray[np.float32]]:
    """Return the rows in `node_keys` of the file's nodes, and their vectors (n, dimension).

    Raises:
        CorruptMemoryError: they differ in length.
    """
    if len({len(blob) for _, blob in vectors}) > 1:
        raise CorruptMemoryError("the memory holds vectors of different lengths; restore it from a snapshot")
    matrix = np.frombuffer(b"".join([blob for _, blob in vectors]), dtype="<f4").reshape(max(len(vectors), 1), -1)
    keys = np.array([key for key, _ in vectors], dtype=np.int64)
    return rows_of(keys, node_keys), matrix.astype(np.float32, copy=False)


def rows_of(keys: Keys, known: Keys) -> Keys:
    """Return the rows of nodes or edges by the file's numbers; `known` are those of all rows, ascending."""
    rows: Keys = np.searchsorted(known, keys)
    return rows


def keys_to_blob(lists: Iterable[Keys]) -> bytes:
    """Return lists of ascending numbers as the journal stores them: lengths and differences, compressed."""
    parts = [np.concatenate(([keys.size], np.diff(keys, prepend=0))) for keys in lists]
    return zlib.compress(np.concatenate(parts).astype("<i8").tobytes())


def keys_from_blob(blob: bytes) -> list[Keys]:
    """Return the lists that `keys_to_blob` wrote."""
    numbers, lists = np.frombuffer(zlib.decompress(blob), dtype="<i8"), []
    while numbers.size:
        lists.append(np.cumsum(numbers[1 : 1 + numbers[0]]))
        numbers = numbers[1 + numbers[0] :]
    return lists


def operators_from_json(text: str | None) -> tuple[Decay, ...]:
    """Return the operators of a delta as the journal stores them, none for None.

    Raises:
        CorruptMemoryError: an operator has an unknown kind.
    """
    try:
        return tuple(map(Decay.from_json, json.loads(text or "[]")))
    except ValueError as error:
        raise CorruptMemoryError(f"the journal holds {error}") from error


_NODES = (
    f"SELECT v.node, {RECORD} FROM node_versions v "
    f"WHERE {HOLDS.format('v')} AND v.node IN (SELECT value FROM json_each(:keys))"
)
_SAID = (
    "SELECT v.node, v.timestamp, json_extract(v.found, '$.offset'), "
    "iif(json_extract(v.found, '$.times') IS NULL, '', v.content) FROM node_versions v "
    f"WHERE {HOLDS.format('v')} AND v.node IN (SELECT value FROM json_each(:keys))"
)
_EDGES = (
    "SELECT e.edge, coalesce(e.created_at, d.at), e.valid_from, e.valid_to, e.relation FROM edges e "
    "JOIN deltas d ON d.sequence = e.since "
    f"WHERE {HOLDS.format('e')} AND e.edge IN (SELECT value FROM json_each(:keys))"
)


@dataclass(frozen=True, slots=True)
class SqliteRecords:
    """Records of one namespace; see `Records`."""

    file: SqliteFile
    node_keys: Keys
    """The file's number of every node row."""
    edge_keys: Keys
    """The file's number of every edge row."""
    sequence: int

    def nodes(self, rows: Rows) -> list[NodeRecord]:
        return records_of(self._select(_NODES, self.node_keys[rows]))

    def said(self, rows: Rows) -> list[Said]:
        found = self._select(_SAID, self.node_keys[rows])
        return [Said(moment_or_none(micros), zone_of(offset), dated) for micros, offset, dated in found]

    def edges(self, rows: Rows) -> list[EdgeRecord]:
        found = self._select(_EDGES, self.edge_keys[rows])
        return [
            EdgeRecord(from_micros(created), moment_or_none(begin), moment_or_none(end), relation)
            for created, begin, end, relation in found
        ]

    def isolated(self) -> Self:
        """Return itself: the rows of a past delta do not change."""
        return self

    def _select(self, statement: str, keys: Keys) -> list[list[Any]]:
        wanted = keys.tolist()
        rows = self.file.fetch(statement, {"keys": str(wanted), "now": self.sequence})
        by_key = {key: rest for key, *rest in rows}
        try:
            return [by_key[key] for key in wanted]
        except KeyError as error:
            raise RecordsErasedError from error
