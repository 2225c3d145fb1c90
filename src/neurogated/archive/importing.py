"""The manifest of an export, its import in one transaction, and replaying the log of a graph in another one.

An export is a folder of three files:

* `manifest.json`, written last: format, version, embedder, edge types, counts, and the SHA-256 of all files.
* `journal.jsonl`: one delta per line (`core.codec`), namespace by namespace, in the order of the deltas.
* `vectors.f32`: float32, little-endian; the vectors of the first namespace, then of the second, and so on. A node's
  `vector` is the number of a vector in its namespace, from 0.
"""

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from neurogated.core.abilities import SupportsCompaction, SupportsNamespaces
from neurogated.core.codec import delta_from_json
from neurogated.core.delta import Owner
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey
from neurogated.core.ports import GraphStorePort
from neurogated.errors import ConfigError, CorruptMemoryError, DatasetError, FormatVersionError, StorageError

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


_NUMBER = np.dtype("<f4")
# Errors of a malformed line, and of a store that refuses the delta of a line.
_MALFORMED = (KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError)


def import_memory(
    folder: Path, manifest: ExportManifest, store: GraphStorePort, *, progress: Progress = lambda lines, _: lines
) -> None:
    """Import the graphs of an export into namespaces of the same names, in one transaction.

    The import applies every delta in its order, with its time and reason. So `history` has the same entries, and
    `as_of` a time returns the same graph. The store numbers the deltas itself; the numbers may be smaller than before.

    Args:
        folder: the export.
        manifest: what `open_export` returned for it.
        store: any graph of the memory. The namespaces of the export must be missing or have no history.
        progress: wraps the lines of the journal.

    Raises:
        StorageError: a namespace already has a history, or the disk fails.
        EmbedderMismatchError: the memory holds vectors of another embedder.
        ConfigError: the store holds a single graph only, or an edge type is registered with other properties.
        DatasetError: a line is malformed; the message names file and line.

    After an error in the middle, close the store. The store is unchanged when it is opened again.
    """
    if not isinstance(store, SupportsNamespaces):
        raise ConfigError(f"a {type(store).__name__} cannot take an import; use another storage")
    for kind, value, plastic, both_ways in manifest.edge_types:
        EdgeType.register(kind, value, plastic=plastic, both_ways=both_ways)
    there = set(store.namespaces())
    for namespace in manifest.namespaces:
        if namespace.name in there and any(True for _ in store.in_namespace(namespace.name).journal()):
            raise StorageError(
                f"namespace {namespace.name!r} already has a history, so nothing can be imported into it; "
                "drop the namespace, or import into another save_dir"
            )
    with store.transaction():
        if manifest.embedder is not None:
            store.bind_embedder(*manifest.embedder)
        graphs = {namespace.name: store.in_namespace(namespace.name) for namespace in manifest.namespaces}
        _apply_all(folder, manifest, graphs, progress)


def _apply_all(
    folder: Path, manifest: ExportManifest, graphs: Mapping[str, GraphStorePort], progress: Progress
) -> None:
    path, applied = folder / JOURNAL, Counter[str]()
    names = {namespace.name: namespace for namespace in manifest.namespaces}
    with path.open("rb") as journal, (folder / VECTORS).open("rb") as vectors:
        readers, begin = dict[str, Callable[[Any], NDArray[np.float32]]](), 0
        for one in manifest.namespaces:
            readers[one.name] = _vectors_of(vectors, begin, one)
            begin += one.vectors * (one.dimension or 0) * _NUMBER.itemsize
        total = sum(namespace.deltas for namespace in manifest.namespaces)
        for number, line in enumerate(progress(journal, total), start=1):
            try:
                values: dict[str, Any] = json.loads(line)
                name, _ = values.pop("namespace"), values.pop("sequence")
                delta = delta_from_json(values, readers[name])
                graphs[name].apply(replace(delta, owner=Owner.IMPORT))
            except _MALFORMED as error:
                raise DatasetError(f"{path}, line {number}: {error}; export the memory again") from error
            applied[name] += 1
            erased = names[name].erased
            if erased == applied[name] and isinstance(graph := graphs[name], SupportsCompaction):
                graph.record_erased(graph.view().sequence)
    for namespace in manifest.namespaces:
        if applied[namespace.name] != namespace.deltas:
            raise DatasetError(
                f"{path} has {applied[namespace.name]} lines of namespace {namespace.name!r}, the manifest counts "
                f"{namespace.deltas}; export the memory again"
            )


def _vectors_of(file: BinaryIO, begin: int, namespace: NamespaceCounts) -> Callable[[Any], NDArray[np.float32]]:
    """Return a function that reads a vector of a namespace by its number."""
    size = (namespace.dimension or 0) * _NUMBER.itemsize

    def get(number: Any) -> NDArray[np.float32]:  # noqa: ANN401 - JSON
        if not isinstance(number, int) or not 0 <= number < namespace.vectors:
            raise ValueError(f"there is no vector {number!r}; the namespace has {namespace.vectors}")
        file.seek(begin + number * size)
        return np.frombuffer(file.read(size), dtype=_NUMBER).astype(np.float32, copy=False)

    return get


def replay(source: GraphStorePort, target: GraphStorePort) -> int:
    """Apply the deltas of a graph to another one, in order; return how many there were.

    Nodes and edges that the other graph has stay as they are, unless the replay removes them before it adds them again.
    """
    held, changed, removed, count = target.view(), set[str | EdgeKey](), set[str](), 0

    def is_changed(key: str | EdgeKey) -> bool:
        found = key in changed
        changed.add(key)
        return found

    def joins(key: EdgeKey) -> bool:
        ends = key.source_id, key.target_id
        if not removed.isdisjoint(ends) or any(held.find(end) is None for end in ends):
            return False
        sources, targets = (held.rows([end]) for end in ends)
        return bool((held.edge_rows(sources, targets, key.type) >= 0).all())

    for count, entry in enumerate(source.journal(), start=1):  # noqa: B007 - the count of none is 0
        delta = entry.delta
        # An operator is a rule over all edges of its graph; those of the other graph have their own.
        if delta.operators:
            continue
        removed.update(delta.removed_nodes)
        changed.update(delta.removed_nodes, delta.removed_edges)
        nodes = [one for one in delta.nodes if is_changed(one.id) or held.find(one.id) is None]
        edges = [one for one in delta.edges if is_changed(one.key) or not joins(one.key)]
        target.apply(replace(delta, nodes=tuple(nodes), edges=tuple(edges), owner=Owner.LOG))
    return count
