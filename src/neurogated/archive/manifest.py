"""What an export says of itself: `manifest.json`, which is written last and seals the other files.

An export is a folder of three files:

* `manifest.json`: format, version, embedder, edge types, namespaces with their counts, and the SHA-256 of every file.
* `journal.jsonl`: one delta a line (`archive.lines`), namespace by namespace, each in the order it came about.
* `vectors.f32`: float32, little-endian; the vectors of the first namespace, then of the second, and so on. A node's
  `vector` counts from the beginning of its namespace's.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neurogated.core.edge_type import EdgeType
from neurogated.errors import CorruptMemoryError, FormatVersionError, StorageError

__all__ = [
    "FORMAT",
    "FORMAT_VERSION",
    "JOURNAL",
    "MANIFEST",
    "VECTORS",
    "ExportManifest",
    "FileSeal",
    "NamespaceCounts",
    "check_files",
    "manifest_bytes",
    "read_manifest",
]

FORMAT = "neurogated export"
FORMAT_VERSION = 1
MANIFEST, JOURNAL, VECTORS = "manifest.json", "journal.jsonl", "vectors.f32"


@dataclass(frozen=True, slots=True)
class FileSeal:
    """What a file must be, byte for byte."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class NamespaceCounts:
    """What there is of one namespace."""

    name: str
    deltas: int
    """Lines of the journal."""
    vectors: int
    """Vectors, those of earlier versions of nodes included."""
    dimension: int | None
    """Length of each vector, None where there is none."""
    nodes: int
    """Nodes there were when it was exported; for people to read."""
    edges: int
    """Likewise."""


@dataclass(frozen=True, slots=True)
class ExportManifest:
    """What an export says of itself."""

    neurogated: str
    """Version of the package that wrote it."""
    embedder: tuple[str, int] | None
    """Name and dimension of the embedder the vectors come from, None if none was ever recorded."""
    edge_types: tuple[tuple[str, str, bool, bool], ...]
    """Name, value, plastic and both ways of each edge type that occurs."""
    namespaces: tuple[NamespaceCounts, ...]
    files: Mapping[str, FileSeal]
    """By name: the journal and the vectors."""

    def register_edge_types(self) -> None:
        """Make the edge types known that this process has not met.

        Raises:
            ConfigError: a type is registered with other properties.
        """
        for name, value, plastic, both_ways in self.edge_types:
            EdgeType.register(name, value, plastic=plastic, both_ways=both_ways)


def manifest_bytes(manifest: ExportManifest) -> bytes:
    """Return the manifest as its file holds it, with a seal of its own at the end."""
    values = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "neurogated": manifest.neurogated,
        "embedder": manifest.embedder and dict(zip(("name", "dimension"), manifest.embedder, strict=True)),
        "edge_types": [
            dict(zip(("name", "value", "plastic", "both_ways"), edge_type, strict=True))
            for edge_type in manifest.edge_types
        ],
        "namespaces": [dataclasses.asdict(namespace) for namespace in manifest.namespaces],
        "files": {name: dataclasses.asdict(seal) for name, seal in manifest.files.items()},
    }
    return _dump({**values, "sha256": _checksum(values)})


def read_manifest(folder: Path) -> ExportManifest:
    """Return what the export in `folder` says of itself.

    Raises:
        StorageError: there is no export.
        FormatVersionError: it was written in another version of the format.
        CorruptMemoryError: the manifest is damaged.
    """
    path = folder / MANIFEST
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise StorageError(f"{folder} is not an export: {MANIFEST} cannot be read ({error.strerror})") from error
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
    # Compared as bytes, so that not even a space can change unnoticed.
    if seal != _checksum(values) or raw != _dump({**values, "sha256": seal}):
        raise CorruptMemoryError(f"{path} is not as it was written; use another copy of the export")
    return _parsed(values, path)


def check_files(folder: Path, manifest: ExportManifest) -> None:
    """Read every file of an export and compare it with its seal.

    Raises:
        CorruptMemoryError: a file is missing, too short or long, or not what was written; names it.
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
            raise CorruptMemoryError(f"{path} has {size} bytes, but was written with {seal.bytes}; use another copy")
        if digest != seal.sha256:
            raise CorruptMemoryError(f"{path} is damaged: its SHA-256 is not the manifest's; use another copy")


def _parsed(values: Mapping[str, Any], path: Path) -> ExportManifest:
    try:
        embedder = values["embedder"]
        return ExportManifest(
            neurogated=values["neurogated"],
            embedder=embedder and (embedder["name"], embedder["dimension"]),
            edge_types=tuple(
                (kind["name"], kind["value"], kind["plastic"], kind["both_ways"]) for kind in values["edge_types"]
            ),
            namespaces=tuple(NamespaceCounts(**namespace) for namespace in values["namespaces"]),
            # Names of files are ours alone; a manifest never says which path is read.
            files={name: FileSeal(**values["files"][name]) for name in (JOURNAL, VECTORS)},
        )
    except (KeyError, TypeError) as error:
        raise CorruptMemoryError(f"{path} is not a manifest of version {FORMAT_VERSION} ({error!r})") from error


def _checksum(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(_dump(values)).hexdigest()


def _dump(values: Mapping[str, Any]) -> bytes:
    return (json.dumps(values, indent=2, allow_nan=False) + "\n").encode("ascii")
