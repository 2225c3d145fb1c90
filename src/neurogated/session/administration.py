"""Whole memories: export, import, restoring a snapshot, changing the embedding model, erasing.

Places in the folder of the memory are known by their names. Places elsewhere are recorded in the log before they
receive anything, so an erasure reaches them with other settings and from other processes, too.
"""

import contextlib
import json
import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from neurogated.archive import export, importing
from neurogated.archive.foreign import PAM, pam
from neurogated.archive.importing import ExportManifest, Progress, open_export
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import (
    EmbeddedVersion,
    SupportsNamespaces,
    SupportsReembedding,
    VersionKey,
)
from neurogated.core.clock import Clock, utc_now
from neurogated.core.commit import Committer
from neurogated.core.contexts import forget_texts
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.extras import import_extra
from neurogated.core.files import make_folder, private, sync_folder
from neurogated.core.filters import NO_MEMORIES, owned
from neurogated.core.model import MemoryEdge, MemoryNode, Vector
from neurogated.core.node_kind import ITEM
from neurogated.core.ports import Embedder, GraphStorePort
from neurogated.core.projections import remove_file, remove_manifests
from neurogated.core.rendering import search_text
from neurogated.core.scope import ANY_USER
from neurogated.core.view import GraphView
from neurogated.errors import ConfigError, InputError, MissingExtraError, StorageError
from neurogated.ingestion.edge_builder import by_user, similarity_edges
from neurogated.ingestion.writer import BATCH
from neurogated.session import compose
from neurogated.session.compose import FACTS_FILE, canvases_of, is_of_canvases, open_facts
from neurogated.session.runtime import Parts, show_progress
from neurogated.storage.index.vectors.embedding_store import EmbeddingStore
from neurogated.storage.registry import consistent_snapshot, memory_exists, open_store, repair_store, restore_store
from neurogated.text.strings import beginning, checked_name
from neurogated.version import __version__


def erase_copies(graphs: Mapping[str, GraphStorePort], parts: Parts, config: MemoryConfig) -> None:
    """Erase what is in none of the graphs of a memory, which are given by name, from all places and caches.

    Raises StorageError if a place did not confirm it. The message names each such place; the others are erased.
    """
    failed = []
    for place, erase in _places(graphs, parts, config):
        try:
            erase()
        except (OSError, ConfigError, MissingExtraError) as error:
            failed.append(f"{place} ({error})")
    forget_texts()
    if failed:
        raise StorageError(
            f"the memory is compacted, but words of erased memories may remain in {'; '.join(failed)}; compact again "
            "when each of these answers, and name those that no longer exist in `forget`"
        )


def forget_copies(store: GraphStorePort, parts: Parts, places: Collection[str]) -> None:
    """Remove the records of places that no longer exist.

    Raises InputError if a place is not recorded, or the settings name it.
    """
    known = store.copies() if isinstance(store, SupportsNamespaces) else []
    for place in places:
        if place not in known:
            raise InputError(f"{place!r} has received nothing; recorded are {', '.join(known) or 'no places'}")
        if place in _in_use(parts):
            raise InputError(f"{place!r} is in use; change metabolism.facts_url or metabolism.canvas_url first")
    for place in places:
        if isinstance(store, SupportsNamespaces):
            store.record_copy(place, exists=False)


def _in_use(parts: Parts) -> set[str | None]:
    return {parts.canvas.place, None if parts.facts is None else parts.facts.place}


def _places(
    graphs: Mapping[str, GraphStorePort], parts: Parts, config: MemoryConfig
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the name of each place, with a function that erases there and raises an error if that fails."""
    for cache in parts.caches:
        yield f"a {type(cache).__name__}", cache.clear
    yield parts.canvas.place or "the canvas", parts.canvas.erase
    file = Path(config.save_dir) / FACTS_FILE
    if parts.facts is not None:
        yield parts.facts.place or str(file), partial(parts.facts.erase, graphs)
    if config.storage != "memory" and (parts.facts is None or parts.facts.place is not None):
        # With these settings, no rows are written into the file. It is rebuilt when others need it.
        yield str(file), partial(remove_file, file)
    yield f"the manifests in {config.save_dir}", partial(remove_manifests, config.save_dir)
    store = next(iter(graphs.values()))

    def erase_elsewhere(place: str) -> None:
        if not is_of_canvases(place):
            open_facts(place).erase(graphs)
            return
        with closing(canvases_of(place, store)) as canvases:
            canvases.erase()

    for place in store.copies() if isinstance(store, SupportsNamespaces) else ():
        if place not in _in_use(parts):
            yield place, partial(erase_elsewhere, place)


T = TypeVar("T")

_PART = 1000
"""Memories that an export reads at a time."""
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def export_memory(
    store: GraphStorePort, namespace: str, folder: Path, *, progress: bool | None = None
) -> ExportManifest:
    """Write an open memory to a new folder; see `memory.admin.export`. `namespace` is the name of the graph `store`."""
    folder = folder.absolute()
    export.refuse_existing(folder)
    bar = _bar("exporting", progress)
    with _scratch(folder) as scratch, consistent_snapshot(store, scratch) as copy:
        stores = graphs_of(copy, namespace)
        return export.export_memory(stores, copy.embedder, folder, made_by=__version__, progress=bar)


def export_to(store: GraphStorePort, target: str, user_id: str | None, file: Path, at: datetime) -> int:
    """Write memories in the format of another system; see `memory.admin.export_to`.

    Items of a store are values for programs, which these formats cannot hold.
    """
    whose = ANY_USER if user_id is None else checked_name("user_id", user_id)
    view = store.view(filters=replace(owned({"user_id": whose}), except_kinds=NO_MEMORIES | {ITEM}))
    if target == PAM:
        if whose is ANY_USER:
            raise InputError(f"{PAM} has the memories of one user; give user_id")
        write_new(file, pam.written(_nodes_of(store, view), whose, __version__, at))
        return int(view.admitted_nodes().size)
    networkx, graph = import_extra("networkx", "networkx"), graph_of(store, view)
    lines = [json.dumps(networkx.cytoscape_data(graph, name="label"), ensure_ascii=False)]
    if target == "graphml":
        lines = networkx.generate_graphml(graph, edge_id_from_attribute="id")
    write_new(file, (f"{line}\n" for line in lines))
    return len(graph)


def graph_of(store: GraphStorePort, view: GraphView) -> Any:  # noqa: ANN401 - a package that only an extra installs
    """Return the memories that a view admits as a `networkx.MultiDiGraph`, with their texts.

    Values are texts and numbers. Unknown ones are left out, and characters that XML cannot hold are replaced.
    """
    graph = view.to_networkx()
    for node in _nodes_of(store, view):
        words = {name: getattr(node, name) for name in ("title", "role", "speaker")}
        words |= {"label": node.title or beginning(node.content), "text": node.content, "tags": ", ".join(node.tags)}
        words |= {name: getattr(node.scope, name) for name in ("user_id", "agent_id", "session_id")}
        words["timestamp"] = node.timestamp and node.timestamp.isoformat()
        said = {name: _NOT_IN_XML.sub("\ufffd", value) for name, value in words.items() if value}
        graph.nodes[node.id].update(said)
    for number, (*_, key, edge) in enumerate(graph.edges(keys=True, data=True)):
        edge |= {"id": f"e{number}", "type": key}
    return graph


def _nodes_of(store: GraphStorePort, view: GraphView) -> Iterator[MemoryNode]:
    """Yield the memories that a view admits in the order of their ids."""
    names = sorted(view.names(view.admitted_nodes()))
    for begin in range(0, len(names), _PART):
        yield from store.get_nodes(names[begin : begin + _PART], missing_ok=True)


def write_new(file: Path, pieces: Iterable[str]) -> int:
    """Write a new file, which appears under its name when it is complete; return the number of pieces."""
    file = file.absolute()
    export.refuse_existing(file)
    count = 0
    with _scratch(file) as scratch:
        partial = scratch / file.name
        try:
            with open(partial, "w", encoding="utf-8", opener=private) as output:
                for piece in pieces:
                    output.write(piece)
                    count += 1
                output.flush()
                os.fsync(output.fileno())
            # A rename could overwrite a file that appeared meanwhile; a link cannot.
            os.link(partial, file)
            sync_folder(file.parent)
        except OSError as error:
            raise StorageError(f"cannot write the export {file} ({error}); choose another file") from error
    return count


def import_memory(config: MemoryConfig, folder: str | Path, *, progress: bool | None = None) -> ExportManifest:
    """Read an export into the memory that `config` describes, created if there is none; all or nothing.

    The imported memory has the whole history and answers every question as the exported one. Deltas get new numbers.
    The memory must be closed, and have no history in the namespaces of the export. `progress` shows a bar; None shows
    it if the output is a terminal.

    Raises:
        StorageError: there is no export, or a namespace has a history already.
        FormatVersionError: the export was written in another version of the format.
        CorruptMemoryError: a file of the export is damaged.
        EmbedderMismatchError: the memory holds vectors of another embedder.
        DatasetError: a line is malformed; the message names file and line.
    """
    config = _on_disk(config)
    # The export is opened before the memory, so that a damaged export does not leave an empty memory.
    manifest = open_export(Path(folder))
    with contextlib.closing(open_store(config, utc_now)) as store:
        importing.import_memory(Path(folder), manifest, store, progress=_bar("importing", progress))
    return manifest


def move_memory(config: MemoryConfig, storage: str, *, progress: bool | None = None) -> ExportManifest:
    """Copy a memory with its history into another storage, by an export that is deleted afterwards; all or nothing.

    Others may use the memory, and what they write meanwhile is not copied. `storage` is the new value of this setting,
    such as `postgresql://HOST/DATABASE`; for `progress` see `import_memory`.

    Raises:
        StorageError: there is no memory, the new storage has a history already, or one of them cannot be used.
        Others as `import_memory`.
    """
    config, target = _on_disk(config), _on_disk(config.replace(storage=storage))
    if not memory_exists(config):
        raise StorageError(f"there is no memory in {config.place}; check save_dir and storage")
    Path(config.save_dir).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=config.save_dir, prefix=".moving-") as folder:
        with contextlib.closing(open_store(config.replace(read_only=True), utc_now)) as store:
            export_memory(store, config.namespace, Path(folder) / "export", progress=progress)
        return import_memory(target, Path(folder) / "export", progress=progress)


def restore_snapshot(config: MemoryConfig, snapshot: str | Path, *, replace: bool = False) -> None:
    """Create the memory that `config` names, which must be closed, from the file of a snapshot.

    With `replace`, this replaces an existing memory, which stays in use until the snapshot is copied completely and
    found sound.

    Raises:
        MemoryLockedError: a process has the memory open for writing.
        CorruptMemoryError: the file is damaged or is not a snapshot; the memory is unharmed.
        StorageError: the snapshot cannot be read, the memory cannot be written, or it exists and `replace` is not set.
    """
    restore_store(_on_disk(config), Path(snapshot), replace=replace)


def repair_memory(config: MemoryConfig) -> None:
    """Make a closed memory usable again whose file another program rewrote, as `VACUUM` in SQLite's own shell does.

    Such a program leaves pages without checksums. They are given again if all else is sound: the file itself, and the
    graph of every namespace, which is rebuilt from its journal and compared.

    Raises:
        MemoryLockedError: a process has the memory open for writing.
        CorruptMemoryError: more is wrong; the file is unchanged. Restore a snapshot.
        StorageError: there is no memory, or it cannot be written.
    """
    repair_store(_on_disk(config))


def migrate(config: MemoryConfig, *, progress: bool | None = None, clock: Clock = utc_now) -> int:
    """Re-embed a closed memory with the model that `config.embedding_name` names; source files are not needed.

    It re-embeds every stored text, present and past; see `re_embed`. Vectors go to the embedding cache at once, so
    after an interruption run it again to continue. The memory changes in one step at the end, at the time of `clock`.
    For `progress` see `import_memory`. Return how many texts have a new vector; 0 if the memory had the model already.

    Raises:
        StorageError: there is no memory, or it cannot be opened or written.
        EmbeddingError: the model failed; run it again to continue.
    """
    config = _on_disk(config)
    if not memory_exists(config):
        raise StorageError(f"there is no memory in {config.place}; check save_dir and storage")
    with (
        contextlib.closing(compose.cached(compose.build_text_embedder(config), config)) as embedder,
        contextlib.closing(open_store(config, clock)) as store,
    ):
        return re_embed(store, embedder, config, at=clock(), progress=progress)


def re_embed(
    store: GraphStorePort, embedder: Embedder, config: MemoryConfig, *, at: datetime, progress: bool | None = None
) -> int:
    """Give every namespace of a store the vectors of another embedder, and the SIM edges that follow from them.

    The new SIM edges are those of indexing the present nodes again in their order. Other edges, weights and times stay.
    In the past that `as_of` shows, nodes have new vectors and edges are unchanged. Raises ConfigError if the store does
    not support it.

    Args:
        store: any graph of the memory.
        embedder: the new one; it embeds every text twice, so it should have a cache.
        config: `MAX_SIM_NEIGHBORS` applies.
        at: the time of the change.
        progress: show a progress bar; None shows it if the output is a terminal.

    Returns:
        How many texts have a new vector; 0 if the embedder is the recorded one.
    """
    if not (isinstance(store, SupportsNamespaces) and isinstance(store, SupportsReembedding)):
        raise ConfigError(f"a {type(store).__name__} cannot take vectors of another model; re-index its documents")
    graphs = partial(graphs_of, store, config.namespace)
    recorded = next((graph.embedder for graph in graphs().values() if graph.embedder is not None), None)
    if recorded is not None and recorded[0] == embedder.name:
        return 0
    total = sum(1 for _ in store.embedded_versions())
    versions = show_progress(store.embedded_versions(), "embedding", "text", total=total, progress=progress)
    for batch in _batches(versions):
        _embedded(batch, embedder)
    # The transaction blocks other writers, so that no node keeps a vector or a similarity of the old model.
    with store.transaction():
        # This call also keeps other processes from making graphs, which would keep vectors of the old model.
        versions = store.embedded_versions()
        deltas = {name: _similarity_delta(graph, embedder, config, at) for name, graph in graphs().items()}
        # The first delta carries the vectors of all namespaces.
        vectors = _vectors(versions, embedder)
        store.replace_vectors(embedder.name, embedder.dimension, vectors, GraphDelta(at=at))
        for name, graph in graphs().items():
            Committer(graph).commit(partial(deltas.__getitem__, name))
    return total


@contextlib.contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `folder`; a killed export leaves its partial copy there, with the name shown."""
    try:
        make_folder(folder.parent)
        scratch = tempfile.TemporaryDirectory(
            prefix=f".{folder.name}.", suffix=".partial", dir=folder.parent, ignore_cleanup_errors=True
        )
    except OSError as error:
        raise StorageError(f"cannot write the export {folder} ({error}); choose another folder") from error
    with scratch as name:
        yield Path(name)


def graphs_of(store: GraphStorePort, namespace: str) -> dict[str, GraphStorePort]:
    """Return all graphs of a store by name; `namespace` is the name of its only graph if it has no others."""
    if not isinstance(store, SupportsNamespaces):
        return {namespace: store}
    return {name: store.in_namespace(name) for name in store.namespaces()}


def _vectors(versions: Iterator[EmbeddedVersion], embedder: Embedder) -> Iterator[tuple[VersionKey, Vector]]:
    for batch in _batches(versions):
        yield from zip((version.key for version in batch), _embedded(batch, embedder), strict=True)


def _embedded(batch: Iterable[EmbeddedVersion | MemoryNode], embedder: Embedder) -> NDArray[np.float32]:
    return embedder.embed_documents([search_text(one) for one in batch])


def _similarity_delta(graph: GraphStorePort, embedder: Embedder, config: MemoryConfig, at: datetime) -> GraphDelta:
    """Return the delta that replaces the SIM edges by those of the embedder."""
    view, before = graph.view(), defaultdict[str | None, _Before](_Before)
    edges: list[MemoryEdge] = []
    for ids in _batches(view.names(view.live_nodes())):
        stored = [node for node in graph.get_nodes(ids) if node.embedding is not None]
        embedded = zip(stored, _embedded(stored, embedder), strict=True)
        nodes = [MemoryNode(node.id, "", vector, scope=node.scope) for node, vector in embedded]
        edges += similarity_edges(
            nodes,
            lambda user, vectors, k: before[user].nearest(vectors, k),
            neighbors=config.MAX_SIM_NEIGHBORS,
            at=at,
        )
        for user_id, added in by_user(nodes).items():
            before[user_id].add(added)
    keys = {edge.key for edge in edges}
    old = (view.edge_key(row) for row in view.live_edges().tolist())
    removed = tuple(key for key in old if key.type is EdgeType.SIM and key not in keys)
    return GraphDelta(removed_edges=removed, edges=tuple(edges), reason=f"migrate to {embedder.name}", at=at)


class _Before:
    """The earlier nodes of one user, with their new vectors."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._index = EmbeddingStore()

    def add(self, nodes: Sequence[MemoryNode]) -> None:
        if nodes:
            rows = len(self._ids) + np.arange(len(nodes), dtype=np.int64)
            self._index.put(rows, np.stack([np.asarray(node.embedding) for node in nodes]))
            self._ids += [node.id for node in nodes]

    def nearest(self, vectors: Sequence[Vector], k: int) -> list[list[tuple[str, float]]]:
        found = []
        for keys, scores in self._index.search_batch(vectors, k):
            named = [(self._ids[key], score) for key, score in zip(keys.tolist(), scores.tolist(), strict=True)]
            found.append(sorted(named, key=lambda pair: (-pair[1], pair[0]))[:k])
        return found


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def _on_disk(config: MemoryConfig) -> MemoryConfig:
    if config.storage == "memory":
        raise ConfigError("storage is 'memory', which keeps nothing; choose another storage")
    # None of these operations may delete the memory.
    return config.replace(force_index_from_scratch=False)


def _bar(what: str, progress: bool | None) -> Progress:  # noqa: FBT001 - as in show_progress
    return lambda lines, total: show_progress(lines, what, "delta", total=total, progress=progress)
