"""The manifest of an export, `manifest.json`. It is written last and holds the checksums of the other files.

An export is a folder of three files:

* `manifest.json`: format, version, embedder, edge types, namespaces with their counts, and the SHA-256 of every file.
* `journal.jsonl`: one delta per line (`core.delta_json`), namespace by namespace, in the order of the deltas.
* `vectors.f32`: float32, little-endian; the vectors of the first namespace, then of the second, and so on. A node's
  `vector` is the number of a vector in its namespace, from 0.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neurogated.errors import CorruptMemoryError, FormatVersionError, StorageError

FORMAT = "neurogated export"
FORMAT_VERSION = 1
MANIFEST, JOURNAL, VECTORS = "manifest.json", "journal.jsonl", "vectors.f32"

Progress = Callable[[Iterable[bytes], int], Iterable[bytes]]
"""Wraps the lines of a journal, given their number, as a progress bar does."""
_EDGE_TYPE = "name", "value", "plastic", "both_ways"


@dataclass(frozen=True, slots=True)
class FileSeal:
    """Size and checksum of a file."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class NamespaceCounts:
    """Counts of one namespace."""

    name: str
    deltas: int
    """Lines of the journal."""
    vectors: int
    """Vectors, including those of earlier versions of nodes."""
    dimension: int | None
    """Length of each vector, None if there are no vectors."""
    nodes: int
    edges: int
    """Live nodes and edges at the export, for readers of the manifest."""
    erased: int = 0
    """How many of the first deltas lack past versions and edges, because a compaction erased them."""


@dataclass(frozen=True, slots=True)
class ExportManifest:
    """The manifest of an export."""

    neurogated: str
    """Version of the package that wrote it."""
    embedder: tuple[str, int] | None
    """Name and dimension of the embedder of the vectors, None if the memory has not recorded one."""
    edge_types: tuple[tuple[str, str, bool, bool], ...]
    """Name, value, `plastic` and `both_ways` of each edge type in the journal."""
    namespaces: tuple[NamespaceCounts, ...]
    files: Mapping[str, FileSeal]
    """Seals of the journal and of the vectors, by file name."""


def manifest_bytes(manifest: ExportManifest) -> bytes:
    """Return the bytes of the manifest's file; its own checksum is the last field."""
    values = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "neurogated": manifest.neurogated,
        "embedder": manifest.embedder and dict(zip(("name", "dimension"), manifest.embedder, strict=True)),
        "edge_types": [dict(zip(_EDGE_TYPE, edge_type, strict=True)) for edge_type in manifest.edge_types],
        "namespaces": [dataclasses.asdict(namespace) for namespace in manifest.namespaces],
        "files": {name: dataclasses.asdict(seal) for name, seal in manifest.files.items()},
    }
    return _dump({**values, "sha256": _checksum(values)})


def is_export(path: Path) -> bool:
    """Return whether a folder looks like an export of neurogated."""
    return (path / MANIFEST).exists()


def read_manifest(folder: Path) -> ExportManifest:
    """Return the manifest of the export in `folder`.

    Raises:
        StorageError: `folder` holds no export.
        FormatVersionError: the export has another version of the format.
        CorruptMemoryError: the manifest is damaged.
    """
    path = folder / MANIFEST
    try:
        raw = path.read_bytes()
    except OSError as error:
        reason = f"{folder} is not an export: {MANIFEST} cannot be read ({error.strerror})"
        remedy = "for a file of another system, give --from or call admin.import_from"
        raise StorageError(f"{reason}; {remedy}") from error
    try:
        values = json.loads(raw)
        if values["format"] != FORMAT:
            raise CorruptMemoryError(f"{path} is not the manifest of an export; check the folder")
        version = values["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CorruptMemoryError(f"{path} is damaged ({error}); use another copy of the export") from error
    if version != FORMAT_VERSION:
        raise FormatVersionError(
            f"{folder} is an export of format version {version!r}, this neurogated reads version {FORMAT_VERSION}; "
            "upgrade neurogated"
        )
    seal = values.pop("sha256", None)
    # The comparison of bytes also finds a changed space.
    if seal != _checksum(values) or raw != _dump({**values, "sha256": seal}):
        raise CorruptMemoryError(f"{path} does not match its checksum; use another copy of the export")
    embedder = values["embedder"]
    try:
        return ExportManifest(
            neurogated=values["neurogated"],
            embedder=embedder and (embedder["name"], embedder["dimension"]),
            edge_types=tuple(tuple(kind[name] for name in _EDGE_TYPE) for kind in values["edge_types"]),
            namespaces=tuple(NamespaceCounts(**namespace) for namespace in values["namespaces"]),
            # The file names are fixed, so a manifest cannot make the import read another path.
            files={name: FileSeal(**values["files"][name]) for name in (JOURNAL, VECTORS)},
        )
    except (KeyError, TypeError) as error:
        raise CorruptMemoryError(f"{path} is not a manifest of version {FORMAT_VERSION} ({error!r})") from error


def check_files(folder: Path, manifest: ExportManifest) -> None:
    """Compare every file of an export with its size and checksum in the manifest.

    Raises:
        CorruptMemoryError: a file is missing, or its size or checksum is wrong; the message names the file.
    """
    for name, seal in manifest.files.items():
        path = folder / name
        try:
            size = path.stat().st_size
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise CorruptMemoryError(f"{path} cannot be read ({error.strerror}); use another copy") from error
        if size != seal.bytes:
            raise CorruptMemoryError(f"{path} has {size} bytes, but should have {seal.bytes}; use another copy")
        if digest != seal.sha256:
            raise CorruptMemoryError(f"{path} is damaged: its SHA-256 differs from the manifest; use another copy")


def open_export(folder: Path) -> ExportManifest:
    """Return the manifest of an export after comparing every file with it; raises as `read_manifest`, `check_files`."""
    manifest = read_manifest(folder)
    check_files(folder, manifest)
    return manifest


def _checksum(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(_dump(values)).hexdigest()


def _dump(values: Mapping[str, Any]) -> bytes:
    return (json.dumps(values, indent=2, allow_nan=False) + "\n").encode("ascii")
