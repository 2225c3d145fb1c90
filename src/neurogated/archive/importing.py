"""An export back into a memory, all or nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from neurogated.archive.lines import delta_from_json
from neurogated.archive.manifest import JOURNAL, VECTORS, ExportManifest, NamespaceCounts, check_files, read_manifest
from neurogated.archive.progress import Progress, silent
from neurogated.core.abilities import SupportsNamespaces, SupportsTransaction
from neurogated.core.ports import GraphStorePort
from neurogated.errors import ConfigError, DatasetError, StorageError

__all__ = ["Export", "import_memory", "open_export"]

_NUMBER = np.dtype("<f4")
# What goes wrong when a line is not what the format says, and when the store refuses what it says.
_MALFORMED = (KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Export:
    """An export that was found whole by `open_export`."""

    folder: Path
    manifest: ExportManifest


def open_export(folder: Path) -> Export:
    """Read what an export says of itself, and compare every file with it.

    Raises:
        StorageError: there is no export.
        FormatVersionError: it was written in another version of the format.
        CorruptMemoryError: a file is damaged; names it.
    """
    manifest = read_manifest(folder)
    check_files(folder, manifest)
    return Export(folder, manifest)


def import_memory(export: Export, store: GraphStorePort, *, progress: Progress = silent) -> None:
    """Bring the graphs of an export into namespaces of the same names, whole or not at all.

    Every delta is made again in its order, with its time and reason: `history` tells the same story and `as_of` a time
    gives the same graph. The numbers of deltas are the store's own, so they may be smaller than they were.

    Args:
        export: from `open_export`.
        store: any graph of the memory; the namespaces that the export has must be missing or without history.
        progress: wraps what is walked.

    Raises:
        StorageError: a namespace has a history already, or the disk fails.
        EmbedderMismatchError: the memory holds vectors of another embedder.
        ConfigError: the store holds a single graph only, or an edge type is known with other properties.
        DatasetError: a line is malformed; names file and line. Where an error came in the middle, the store has to be
            closed, and is as before when it is opened again.
    """
    if not isinstance(store, SupportsNamespaces) or not isinstance(store, SupportsTransaction):
        raise ConfigError(f"a {type(store).__name__} cannot take an import; use another storage")
    manifest = export.manifest
    manifest.register_edge_types()
    _require_room(store, manifest)
    with store.transaction():
        if manifest.embedder is not None:
            store.bind_embedder(*manifest.embedder)
        graphs = {namespace.name: store.in_namespace(namespace.name) for namespace in manifest.namespaces}
        _apply_all(export.folder, manifest, graphs, progress)


def _require_room(store: SupportsNamespaces, manifest: ExportManifest) -> None:
    there = set(store.namespaces())
    for namespace in manifest.namespaces:
        if namespace.name in there and any(True for _ in store.in_namespace(namespace.name).journal()):
            raise StorageError(
                f"namespace {namespace.name!r} has a history already, into which nothing can be imported; "
                "drop the namespace, or import into another save_dir"
            )


def _apply_all(
    folder: Path, manifest: ExportManifest, graphs: Mapping[str, GraphStorePort], progress: Progress
) -> None:
    path, applied = folder / JOURNAL, Counter[str]()
    with path.open("rb") as journal, (folder / VECTORS).open("rb") as vectors:
        readers = dict(_vectors_of_each(manifest, vectors))
        total = sum(namespace.deltas for namespace in manifest.namespaces)
        for number, line in enumerate(progress(journal, total), start=1):
            try:
                values: dict[str, Any] = json.loads(line)
                name, _ = values.pop("namespace"), values.pop("sequence")
                graphs[name].apply(delta_from_json(values, readers[name].get))
            except _MALFORMED as error:
                raise DatasetError(f"{path}, line {number}: {error}; export the memory again") from error
            applied[name] += 1
    for namespace in manifest.namespaces:
        if applied[namespace.name] != namespace.deltas:
            raise DatasetError(
                f"{path} has {applied[namespace.name]} lines of namespace {namespace.name!r}, the manifest counts "
                f"{namespace.deltas}; export the memory again"
            )


def _vectors_of_each(manifest: ExportManifest, file: BinaryIO) -> Iterator[tuple[str, _VectorReader]]:
    begin = 0
    for namespace in manifest.namespaces:
        yield namespace.name, _VectorReader(file, begin, namespace)
        begin += namespace.vectors * (namespace.dimension or 0) * _NUMBER.itemsize


class _VectorReader:
    """The vectors of one namespace."""

    def __init__(self, file: BinaryIO, begin: int, namespace: NamespaceCounts) -> None:
        self._file = file
        self._begin = begin
        self._count = namespace.vectors
        self._size = (namespace.dimension or 0) * _NUMBER.itemsize

    def get(self, number: Any) -> NDArray[np.float32]:  # noqa: ANN401 - JSON
        """Return a vector by its number."""
        if not isinstance(number, int) or not 0 <= number < self._count:
            raise ValueError(f"there is no vector {number!r}; the namespace has {self._count}")
        self._file.seek(self._begin + number * self._size)
        return np.frombuffer(self._file.read(self._size), dtype=_NUMBER).astype(np.float32, copy=False)
