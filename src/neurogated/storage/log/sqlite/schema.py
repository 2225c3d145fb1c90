"""The tables of a memory file, its format number and its settings; a new file is created in one step."""

import contextlib
import hashlib
import json
import os
import secrets
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

import apsw

from neurogated.core.delta import PendingTask
from neurogated.core.edge_type import EdgeType
from neurogated.core.files import sync_folder
from neurogated.errors import CorruptMemoryError, FormatVersionError
from neurogated.storage.log.log import COPY
from neurogated.storage.log.sqlite.connection import (
    RESERVED_BYTES,
    Translated,
    begun,
    connect,
    fetch,
    os_errors,
    read_beginning,
    reserve_checksums,
)
from neurogated.storage.log.sqlite.file_guard import place_of

FORMAT_VERSION = 3
APPLICATION_ID = 0x4E475244  # "NGRD"

# What a memory has in the header of an SQLite file: https://www.sqlite.org/fileformat.html#the_database_header
_MAGIC = b"SQLite format 3\x00"
_HEADER = struct.Struct(">16s4xB39xi4xi28x")

# The faults that a sound memory never has, with the statement that counts each.
CHECKS = {
    "an edge between two namespaces": """
        SELECT count(*) FROM edges e JOIN nodes s ON s.node = e.source JOIN nodes t ON t.node = e.target
        WHERE s.namespace <> t.namespace""",
    "a weight that is older than its edge": """
        SELECT count(*) FROM edge_weights w JOIN edges e ON e.edge = w.edge WHERE w.since <= e.since""",
    "an edge between two users": """
        SELECT count(*) FROM edges e JOIN node_versions s ON s.node = e.source AND s.until IS NULL
        JOIN node_versions t ON t.node = e.target AND t.until IS NULL
        LEFT JOIN scopes x ON x.number = s.scope LEFT JOIN scopes y ON y.number = t.scope
        WHERE e.until IS NULL AND s.scope IS NOT t.scope
        AND json_extract(x.name, '$[0]') IS NOT json_extract(y.name, '$[0]')""",
    "a change that is older than its node": """
        SELECT count(*) FROM node_changes c
        WHERE NOT EXISTS (SELECT 1 FROM node_versions v WHERE v.node = c.node AND v.since < c.since)""",
    "a vector of a removed node": """
        SELECT count(*) FROM vectors x WHERE x.until IS NULL
        AND NOT EXISTS (SELECT 1 FROM node_versions v WHERE v.node = x.node AND v.until IS NULL)""",
    "a vector with another length than the rest": """
        SELECT max(count(DISTINCT length(vector)) - 1, 0) FROM vectors""",
}


def check_format(path: Path) -> None:
    """Refuse a file of another format or of another kind; it is only read.

    Raises:
        CorruptMemoryError: it is not an SQLite file, or not a memory.
        FormatVersionError: it has an unknown format version.
    """
    reserved, version = refuse_foreign(path)
    if version != FORMAT_VERSION:
        remedy = (
            "install a newer neurogated"
            if version > FORMAT_VERSION
            else "`export` it with the neurogated that wrote it and `import` that into another save_dir, or drop it "
            "and index again with --force_index_from_scratch"
        )
        raise FormatVersionError(
            f"{path} has format version {version}, but this neurogated reads version {FORMAT_VERSION}; {remedy}"
        )
    if reserved != RESERVED_BYTES:
        raise CorruptMemoryError(f"{path} is damaged: its pages carry no checksums; restore a snapshot")


def refuse_foreign(path: Path) -> tuple[int, int]:
    """Return the reserved bytes of a page and the format version of a memory file, whatever they are.

    Raises:
        CorruptMemoryError: the file is not a memory.
    """
    header = read_beginning(path, _HEADER.size)
    magic, reserved, version, application = _HEADER.unpack(header.ljust(_HEADER.size, b"\0"))
    if len(header) < _HEADER.size or magic != _MAGIC:
        raise CorruptMemoryError(
            f"{path} is not a memory: it is not an SQLite file; restore it from a backup or move it away"
        )
    if application != APPLICATION_ID:
        raise CorruptMemoryError(f"{path} is an SQLite file, but not a memory; choose another save_dir")
    return reserved, version


def find_namespace(connection: apsw.Connection, name: str) -> int:
    """Return the file's number of a namespace; 0 if there is none."""
    rows = fetch(connection, "SELECT namespace FROM namespaces WHERE name = ?", (name,))
    return int(rows[0][0]) if rows else 0


def namespace_names(connection: apsw.Connection) -> dict[int, str]:
    """Return the names of all namespaces by their numbers, in order of creation."""
    return dict(fetch(connection, "SELECT namespace, name FROM namespaces ORDER BY namespace"))


def read_settings(connection: apsw.Connection) -> dict[str, str]:
    """Return the settings of the memory by name."""
    return dict(fetch(connection, "SELECT name, value FROM settings"))


def read_incarnation(connection: apsw.Connection, place: str) -> str:
    """Return the text that no other memory file has, not even a copy of this one, which is at another `place`."""
    known = read_settings(connection)
    present = known.get("incarnation", known["identity"])
    if known.get("place", place) == place:
        return present
    return hashlib.sha256(f"{present} {place}".encode()).hexdigest()


def keep_incarnation(connection: apsw.Connection, place: str, heritage: Mapping[str, str]) -> None:
    """Record where the file is, the incarnation of the memory, and what an earlier file handed down."""
    if not heritage and read_settings(connection).get("place") == place:
        return
    values = {"incarnation": read_incarnation(connection, place), "place": place, **heritage}
    with begun(connection, "IMMEDIATE"):
        connection.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", list(values.items()))


def read_states(connection: apsw.Connection) -> tuple[str, str]:
    """Return a value that changes when an erasure makes checkpoints invalid, and another one.

    That changes when rows of the past change, so that other processes must reload their indexes.
    """
    known = read_settings(connection)
    return f"{known['identity']} {known.get('erasures', '')}".rstrip(), f"{known['identity']} {known['generation']}"


def note_rewritten(connection: apsw.Connection, *names: str) -> None:
    """Count 'erasures' or 'generation' up; see `read_states`."""
    change = "INSERT INTO settings VALUES (?, '1') ON CONFLICT (name) DO UPDATE SET value = value + 1"
    connection.executemany(change, [(name,) for name in names])


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


def heritage_of(path: Path) -> dict[str, str]:
    """Return the settings that a file hands down to the one that replaces it; none if it is gone or damaged.

    They are the name of the memory in shared databases, and the places that have copies of its texts.
    """
    if path.exists():
        with contextlib.suppress(apsw.Error), contextlib.closing(connect(path)) as connection:
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            copies = {name: "1" for name in read_settings(connection) if name.startswith(COPY)}
            return {**copies, "incarnation": read_incarnation(connection, place_of(path))}
    return {}


LOG_SUFFIXES = ("-wal", "-shm", "-journal")
"""The suffixes of the files that SQLite puts beside a file."""


def create_file(path: Path) -> None:
    """Create an empty memory file; it replaces an existing file.

    Raises:
        StorageError: the file cannot be written.
    """
    with drafted(path) as draft:
        with Translated(path), contextlib.closing(connect(draft, create=True)) as connection:
            reserve_checksums(connection)
            numbers = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT_VERSION}"
            connection.execute(f"BEGIN; {numbers}; {Path(__file__).with_suffix('.sql').read_text(encoding='utf-8')}")
            identity = (secrets.token_hex(),)
            connection.execute("INSERT INTO settings VALUES ('identity', ?), ('generation', '0')", identity)
            connection.execute("COMMIT")
        # A new file must not meet an old log.
        drop_file(path)
        replace_file(draft, path)


def drop_file(path: Path) -> None:
    """Delete a memory file with its log."""
    # The file goes first: a log without its file is harmless, but a file without its log lacks recent writes.
    path.unlink(missing_ok=True)
    drop_log(path)


def drop_log(path: Path) -> None:
    """Delete the log of a memory file; a process that still reads the old file keeps the old log."""
    for suffix in LOG_SUFFIXES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def draft_of(path: Path) -> Path:
    """Return the draft of a file, which a crash may leave: it may hold data deleted since."""
    return path.with_name(path.name + ".draft")


@contextlib.contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """Give a draft file beside `path` and delete it unless it was moved; disk errors become StorageError."""
    draft = draft_of(path)
    try:
        with os_errors(f"{path} cannot be written", "check the folder and free space"):
            drop_file(draft)
            yield draft
    finally:
        with contextlib.suppress(OSError):
            drop_file(draft)


def replace_file(draft: Path, path: Path) -> None:
    """Move a finished file to its final name; the move is on disk when the call returns."""
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)
