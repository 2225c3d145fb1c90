"""The settings of a memory file and of its graphs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

import apsw

from neurogated.core.delta import PendingTask
from neurogated.core.edge_type import EdgeType
from neurogated.storage.log.sqlite.connection import begun, fetch

_COPY = "copy "
_THAW = "DELETE FROM settings WHERE name = 'frozen'"


def find_namespace(connection: apsw.Connection, name: str) -> int:
    """Return the file's number of a namespace; 0 if there is none."""
    rows = fetch(connection, "SELECT namespace FROM namespaces WHERE name = ?", (name,))
    return int(rows[0][0]) if rows else 0


def namespace_names(connection: apsw.Connection) -> dict[int, str]:
    """Return the names of all namespaces by their numbers, in order of creation."""
    return dict(fetch(connection, "SELECT namespace, name FROM namespaces ORDER BY namespace"))


def read_incarnation(connection: apsw.Connection, place: str) -> str:
    """Return the text that no other memory file has, not even a copy of this one.

    Args:
        connection: the file.
        place: where the file is; see `place_of`. A file that was copied here gets another text.
    """
    known = dict(
        fetch(connection, "SELECT name, value FROM settings WHERE name IN ('identity', 'incarnation', 'place')")
    )
    present = str(known.get("incarnation", known["identity"]))
    if known.get("place", place) == place:
        return present
    return hashlib.sha256(f"{present} {place}".encode()).hexdigest()


def keep_incarnation(connection: apsw.Connection, place: str, incarnation: str | None = None) -> None:
    """Record where the file is, and the incarnation of the memory: that of the file, or the given one."""
    found = fetch(connection, "SELECT value FROM settings WHERE name = 'place'")
    if incarnation is None and found == [(place,)]:
        return
    values = {"incarnation": incarnation or read_incarnation(connection, place), "place": place}
    with begun(connection, "IMMEDIATE"):
        connection.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", list(values.items()))


def read_derivation(connection: apsw.Connection) -> str:
    """Return a value that changes when an erasure makes checkpoints invalid."""
    return _settings(connection, "identity", "erasures")


def read_generation(connection: apsw.Connection) -> str:
    """Return a value that changes when rows of the past change, so that other processes must reload their indexes."""
    return _settings(connection, "identity", "generation")


def note_generation(connection: apsw.Connection) -> None:
    """Make other processes reload their indexes; see `read_generation`."""
    connection.execute("UPDATE settings SET value = value + 1 WHERE name = 'generation'")


def _settings(connection: apsw.Connection, *names: str) -> str:
    marks = ", ".join("?" * len(names))
    rows = fetch(connection, f"SELECT value FROM settings WHERE name IN ({marks}) ORDER BY name DESC", names)
    return " ".join(str(value) for (value,) in rows)


def read_embedder(connection: apsw.Connection) -> tuple[str, int] | None:
    """Return name and dimension of the embedder of the vectors; None if there is none."""
    rows = fetch(connection, "SELECT value FROM settings WHERE name IN ('dimension', 'embedder') ORDER BY name")
    return (str(rows[1][0]), int(rows[0][0])) if rows else None


def read_frozen(connection: apsw.Connection) -> bool:
    """Return whether the memory is frozen: it learns nothing."""
    return bool(fetch(connection, "SELECT 1 FROM settings WHERE name = 'frozen'"))


def note_frozen(connection: apsw.Connection, *, frozen: bool) -> None:
    """Record whether the memory is frozen."""
    change = "INSERT OR IGNORE INTO settings VALUES ('frozen', '1')" if frozen else _THAW
    connection.execute(change)


def read_erased(connection: apsw.Connection, namespace: int) -> int:
    """Return the number of the delta up to which the past of a namespace was erased; 0 if it is complete."""
    rows = fetch(connection, "SELECT value FROM settings WHERE name = ?", (f"erased {namespace}",))
    return int(rows[0][0]) if rows else 0


def note_erased(connection: apsw.Connection, namespace: int, up_to: int) -> None:
    """Record the delta up to which the past of a namespace was erased; 0 removes the record."""
    connection.execute("DELETE FROM settings WHERE name = ?", (f"erased {namespace}",))
    if up_to:
        connection.execute("INSERT INTO settings VALUES (?, ?)", (f"erased {namespace}", str(up_to)))


def read_copies(connection: apsw.Connection) -> list[str]:
    """Return the places that have copies of texts, in alphabetical order."""
    begin = len(_COPY)
    rows = fetch(connection, "SELECT name FROM settings WHERE substr(name, 1, ?) = ? ORDER BY name", (begin, _COPY))
    return [str(name)[begin:] for (name,) in rows]


def note_copy(connection: apsw.Connection, place: str, *, exists: bool) -> None:
    """Record that a place has copies of texts, or that it no longer exists."""
    change = "INSERT OR IGNORE INTO settings VALUES (?, '1')" if exists else "DELETE FROM settings WHERE name = ?"
    connection.execute(change, (_COPY + place,))


def read_pending(connection: apsw.Connection, namespace: int) -> dict[PendingTask, None]:
    """Return the queued judgements of a namespace, oldest first."""
    rows = fetch(connection, "SELECT kind, nodes FROM pending WHERE namespace = ? ORDER BY task", (namespace,))
    return {PendingTask(kind, tuple(json.loads(nodes))): None for kind, nodes in rows}


def register_types(connection: apsw.Connection) -> Mapping[int, EdgeType]:
    """Return the file's edge types by their number; register types that are new to this process."""
    rows = fetch(connection, "SELECT type, name, value, plastic, both_ways FROM edge_types")
    return {
        code: EdgeType.register(name, value, plastic=bool(plastic), both_ways=bool(both_ways))
        for code, name, value, plastic, both_ways in rows
    }
