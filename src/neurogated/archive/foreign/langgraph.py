"""Items of a store of LangGraph: as Python or JavaScript returns them, or the tables of its SQLite store.

See docs/formats/langgraph.md.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from neurogated.archive.foreign.incoming import Format, Found, IncomingItem, Left, read_one
from neurogated.archive.foreign.stream import File
from neurogated.archive.foreign.values import mapping, moment


def _item(item: Mapping[str, Any], place: str) -> IncomingItem:
    """Return an item. JavaScript spells its times in camel case."""
    namespace, key = item["namespace"], item["key"]
    if not (isinstance(namespace, list) and all(isinstance(one, str) and one for one in (*namespace, key))):
        raise ValueError(f"its namespace {namespace!r:.80} and its key {key!r:.80} must be texts")
    created, updated = (item.get(f"{name}_at") or item.get(f"{name}At") for name in ("created", "updated"))
    times = moment(created), moment(updated)
    if (ttl := item.get("ttl_minutes")) is not None:
        ttl = float(ttl)
    return IncomingItem(
        place, tuple(namespace), key, mapping(item["value"]), *times, ttl=ttl, expires_at=moment(item.get("expires_at"))
    )


def _tables(file: File) -> Found:
    """Yield the rows of the table `store`, whose times are in UTC. A dot joins the names of a namespace."""
    with file.on_disk() as path, closing(sqlite3.connect(path)) as database:
        # Older tables have no lifetimes.
        rows = database.execute("SELECT * FROM store ORDER BY rowid")
        names = [column for column, *_ in rows.description]
        for number, row in enumerate(rows):
            place = f"{file.name}: store[{number}]"
            yield from read_one(
                dict(zip(names, row, strict=True)), place, lambda item, place: _item(_opened(item), place)
            )
        if "checkpoints" in tables_of(database):
            (count,) = database.execute("SELECT count(*) FROM checkpoints").fetchone()
            yield Left(f"{file.name}: checkpoints", "checkpoints, which only LangGraph can read", count)


def _opened(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "namespace": row["prefix"].split("."), "value": json.loads(row["value"])}


def has_tables(file: File, *wanted: str) -> bool:
    """Return whether a file is an SQLite database with these tables."""
    if not file.head.startswith(b"SQLite format 3\0"):
        return False
    with file.on_disk() as path, closing(sqlite3.connect(path)) as database:
        try:
            return tables_of(database) >= set(wanted)
        except sqlite3.DatabaseError:
            return False


def tables_of(database: sqlite3.Connection) -> set[str]:
    """Return the names of the tables of a database."""
    return {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


FORMAT = Format(
    "langgraph",
    "items of a LangGraph store",
    lambda value: {"namespace", "key", "value"} <= value.keys(),
    lambda entry: read_one(entry.value, entry.place, _item),
    lambda file: has_tables(file, "store"),
    _tables,
)
