"""`Admin`: a memory as a whole: its figures, its soundness, its copies and its namespaces."""

from collections import Counter
from collections.abc import Collection, Iterator
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from neurogated.archive.export import user_lines
from neurogated.archive.foreign import EXPORTS, detect, read_file
from neurogated.archive.importing import ExportManifest
from neurogated.components.foreign import Branches, Imported, Importing
from neurogated.components.vault import Synced, Vault
from neurogated.core.abilities import (
    SupportsBackup,
    SupportsCheck,
    SupportsCompaction,
    SupportsNamespaces,
    SupportsStatistics,
)
from neurogated.core.edge_type import EdgeType
from neurogated.core.extras import import_extra
from neurogated.core.filters import memories_among
from neurogated.core.scope import ANY_USER
from neurogated.core.view import GraphView
from neurogated.errors import ConfigError
from neurogated.ingestion.messages import read_message
from neurogated.knowledge.backlog import parked_in
from neurogated.session import administration
from neurogated.session.administration import erase_copies, forget_copies
from neurogated.session.runtime import show_progress
from neurogated.session.session import Component
from neurogated.text.strings import checked_name


class Admin(Component):
    """The calls that maintain a memory, as `memory.admin`."""

    def stats(self) -> dict[str, Any]:
        """Return figures of the memory as JSON values.

        These are counts of memories of all users; of nodes, which are the memories with claims, conflicts and expired
        memories; of edges by type, deltas and pending judgements; whether it is frozen; `namespaces`, the names of all
        graphs, None if the store holds a single one; and the figures of the parts: `storage` (bytes on disk),
        `embedding` and `language model use` (calls, tokens; cache hits, misses and bytes). These count from the opening
        of the memory on, in all its namespaces. Of this graph, `language model use` also counts parts of answers that
        were dropped, and memories that are parked, by reason, as in `dropped: no value of the text`.
        """
        store, parts = self._session.store, self._session.parts
        view = store.view()
        counts = Counter(view.edge_type[view.live_edges()].tolist())
        counts.update({view.edge_types.index(EdgeType.TERM): view.computed_edges()[0].size} if view.computed else {})
        dropped = sum((backlog.dropped for backlog in self._session.backlogs), Counter[str]())
        parked = Counter(parked_in(store).values())
        return {
            "namespace": self._session.config.namespace,
            "namespaces": store.namespaces() if isinstance(store, SupportsNamespaces) else None,
            "memories": int(self._memories().admitted_nodes().size),
            "nodes": int(view.live_nodes().size),
            "edges": {kind.name: counts[code] for code, kind in enumerate(view.edge_types)},
            "deltas": view.sequence,
            "pending": len(store.pending()),
            "frozen": self._session.runtime.is_frozen(),
            "embedder": parts.embedder.name,
            "language model": None if parts.language_model is None else parts.language_model.name,
            "storage": _figures(store),
            "embedding": _figures(parts.embedder),
            "language model use": {
                **_figures(parts.language_model),
                **{f"dropped: {reason}": number for reason, number in dropped.items()},
                **{f"parked: {reason or 'no reason'}": number for reason, number in parked.items()},
            },
        }

    def users(self) -> dict[str, int]:
        """Return the ids of the users of this graph, sorted, and how many memories each owns."""
        return {name: count for name, (count, _) in self.people().items()}

    def people(self) -> dict[str, tuple[int, datetime]]:
        """Return the users of this graph, sorted: how many memories each owns, and when the last one was added."""
        view, owned = self._memories(), dict[str, list[int]]()
        for row in view.admitted_nodes().tolist():
            if (user_id := view.scope_of(row).user_id) is not None:
                owned.setdefault(user_id, []).append(row)
        newest = self._session.store.get_nodes([view.ids[rows[-1]] for rows in owned.values()], missing_ok=True)
        at = {one.scope.user_id: one.created_at for one in newest}
        return {name: (len(rows), at[name]) for name, rows in sorted(owned.items()) if name in at}

    def _memories(self) -> GraphView:
        return self._session.store.view(filters=memories_among({"user_id": ANY_USER}))

    def check(self) -> list[str]:
        """Return the problems of the memory, one per line; none if it is sound or not on disk.

        It checks the file with the checksums of its pages. It rebuilds the graph of every namespace from its journal
        and compares it with the graph in use.
        """
        store = self._session.store
        return store.check() if isinstance(store, SupportsCheck) else []

    def compact(self, *, history: bool = False, forget: Collection[str] = ()) -> int:
        """Erase deleted and expired memories with their history in every namespace and in every place that had them.

        These places are the memory itself, its caches, and the servers of facts and canvases, also those that the
        present settings do not name.

        Args:
            history: also erase the old texts of updated memories. Then `as_of` shows these memories in the past with
                their present text, and `undo` restores no old text.
            forget: places that no longer exist, by the names in the error.

        Returns how many memories were erased; 0 if the store does not support it.

        Raises:
            StorageError: a place is away or in use, so erased words may remain there; the message names it. Compact
                again to complete it.
            InputError: a place in `forget` has received nothing or is in use.
        """
        session, erased = self._session, 0
        forget_copies(session.store, session.parts, forget)
        session.runtime.accesses.flush()
        now = session.clock()
        for graph in session.all_namespaces():
            graph.writer.expire(now)
        if isinstance(session.store, SupportsCompaction):
            with session.runtime.work("compacting"):
                erased = session.store.compact(history=True) if history else session.store.compact()
        graphs = {graph.config.namespace: graph.store for graph in session.all_namespaces()}
        erase_copies(graphs, session.parts, session.config)
        return erased

    def snapshot(self, path: str | Path) -> None:
        """Write a consistent copy of all graphs to one file; the memory stays in use meanwhile.

        Raises:
            ConfigError: the store writes nothing to disk.
            StorageError: the file cannot be written.
        """
        store = self._session.store
        if not isinstance(store, SupportsBackup):
            raise ConfigError(f"a {type(store).__name__} has no file to copy; export it, or back up its database")
        self._session.runtime.accesses.flush()
        store.backup(Path(path))

    def export(self, folder: str | Path, *, progress: bool | None = None) -> ExportManifest:
        """Write the memory, with all its namespaces and its history, to a new folder of plain files.

        The export is consistent: it holds the memory at one moment. The memory may be in use, also by other processes.
        A memory on disk is copied first, so the disk needs room for the copy. In another store, writers wait. Raises
        StorageError if the folder exists or cannot be written. `archive.importing` describes the files. `progress`
        shows a bar; None shows it if the output is a terminal.
        """
        self._session.runtime.accesses.flush()
        return administration.export_memory(
            self._session.store, self._session.config.namespace, Path(folder), progress=progress
        )

    def export_user(self, user_id: str, file: str | Path) -> int:
        """Write all memories of one user, in all namespaces, with facts and conflicts, to a new file of JSON lines.

        A line holds one node with all its versions. Deleted memories are included until `compact` erases them. The file
        appears under its name when it is complete. Return how many nodes were written.

        Raises:
            StorageError: the file exists or cannot be written.
            InputError: the user id is not a valid name.
        """
        self._session.runtime.accesses.flush()
        owner = checked_name("user_id", user_id)
        graphs = administration.graphs_of(self._session.store, self._session.config.namespace)
        lines = chain.from_iterable(user_lines(name, graph, owner) for name, graph in graphs.items())
        return administration.write_new(Path(file), lines)

    def import_from(
        self,
        source: str | None,
        file: str | Path,
        *,
        user_id: str | None = None,
        branches: Branches = "seen",
        include_private: bool = False,
        mirror: bool = False,
        progress: bool | None = None,
    ) -> Imported:
        """Add the conversations and memories of another system, with their times.

        A conversation is a session. The ids follow from those in the file, so importing a file again adds nothing, and
        importing it after an interruption adds the rest. A text that has changed in the file gets a new version. A
        message whose branch the user has left since, such as one that was edited, is no longer valid from then on.

        Args:
            source: the format, such as `chatgpt`; an error for another one names all. None finds it out.
            file: the export; a zip file or a folder of such files, too. It may be larger than memory.
            user_id: the owner of the texts; default: the user that the file names.
            branches: `seen` imports the branch of each conversation that the user saw last; `all` also the others,
                each as a session of its own, with `branch` in the metadata of its messages.
            include_private: also import what the user asked the other system not to remember.
            mirror: delete the texts of earlier imports of this source and user that the file no longer has.
            progress: show a progress bar; None shows it if the output is a terminal.

        Raises:
            ConfigError: the source is unknown.
            DatasetError: the file cannot be read, or is of another kind. Malformed parts of it are counted instead.
        """
        path, session = Path(file), self._session
        importing = Importing(
            session, source or detect(path), user_id=user_id, branches=branches, include_private=include_private
        )
        found = read_file(importing.done.source, path, read_message)
        importing.take(show_progress(found, "importing", "text", progress=progress))
        importing.reconcile(mirror=mirror)
        return importing.done

    def sync(self, folder: str | Path, *, user_id: str | None = None) -> Synced:
        """Bring the memory in step with a folder of Markdown notes, such as a vault of Obsidian; return what changed.

        A note is a document whose id follows from its path. A note that has changed gets a new version, and one that is
        gone is deleted. Links between notes are ASSOC edges with the words `links to`. Raises DatasetError if there is
        no such folder.
        """
        return Vault(self._session, Path(folder), user_id).sync()

    def watch(self, folder: str | Path, *, user_id: str | None = None) -> Iterator[Synced]:
        """Do as `sync`, and then again whenever something in the folder changes; yield what changed each time.

        Raises:
            DatasetError: there is no such folder.
            MissingExtraError: `watchfiles` is not installed.
        """
        watchfiles = import_extra("watchfiles", "vault", use="to watch a folder")
        vault, watched = Vault(self._session, Path(folder), user_id), Path(folder).resolve()

        def visits() -> Iterator[Synced]:
            yield vault.sync()
            for changes in watchfiles.watch(watched, yield_on_timeout=False):
                yield vault.sync([place for _, place in changes])

        return visits()

    def export_to(self, target: str, file: str | Path, *, user_id: str | None = None) -> int:
        """Write the memories of one user, or all, in this graph to a new file in the format of another system.

        Items of a LangGraph store are not written.

        Args:
            target: `pam`, Portable AI Memory 1.0. Importing the file gives memories with the same texts, times, roles,
                sessions, tags and metadata. `graphml` for Gephi and yEd, and `cytoscape` for Cytoscape, have the texts
                with all edges; they need the extra `networkx`, and cannot be imported.
            file: must not exist; it appears under its name when it is complete.
            user_id: the user; without one, a graph has the memories of all.

        Returns how many memories were written.

        Raises:
            ConfigError: the target is unknown.
            InputError: `pam` has no user.
            StorageError: the file exists or cannot be written.
        """
        if target not in EXPORTS:
            raise ConfigError(f"there is no format {target!r} to export; there is {', '.join(EXPORTS)}")
        return administration.export_to(self._session.store, target, user_id, Path(file), self._session.clock())

    def namespaces(self) -> list[str]:
        """Return the names of all graphs of this memory; raises ConfigError if the store has a single one only."""
        return self._session.several_graphs().namespaces()

    def drop_namespace(self, name: str) -> None:
        """Remove another graph of this memory with its history.

        Raises:
            ConfigError: the store has a single graph only.
            UnknownIdError: no graph has this name.
            InputError: it is the graph of this memory.
        """
        store, facts = self._session.several_graphs(), self._session.parts.facts
        if facts is not None and name in store.namespaces() and name != self._session.config.namespace:
            facts.forget(store.in_namespace(name), name)
        store.drop_namespace(name)
        self._session.clear_caches()
        self._session.parts.canvas.clear()


def _figures(part: object) -> dict[str, int | float]:
    return dict(part.statistics()) if isinstance(part, SupportsStatistics) else {}
