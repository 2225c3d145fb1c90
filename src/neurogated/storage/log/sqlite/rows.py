"""Records of nodes and edges, read from the memory file as of a delta."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Self

from neurogated.core.clock import from_micros
from neurogated.core.found import Said, zone_of
from neurogated.core.view import Rows
from neurogated.storage.index.records import EdgeRecord, NodeRecord, RecordsErasedError
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.file import SqliteFile
from neurogated.storage.log.sqlite.loading import HOLDS, Keys
from neurogated.storage.log.sqlite.node_rows import RECORD, moment_or_none, record_of

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
        return list(map(record_of, self._select(_NODES, self.node_keys[rows])))

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
        """Return the rows of a statement for `keys`, in their order; its first column is the key."""
        with self.file.reader() as connection:
            rows = fetch(connection, statement, {"keys": json.dumps(keys.tolist()), "now": self.sequence})
        by_key = {key: rest for key, *rest in rows}
        try:
            return [by_key[key] for key in keys.tolist()]
        except KeyError as error:
            raise RecordsErasedError from error
