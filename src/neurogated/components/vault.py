"""`Vault`: a folder of Markdown notes that a memory keeps in step with."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from neurogated.archive.foreign.incoming import Incoming
from neurogated.archive.foreign.notes import NOTES, front_title, read_note
from neurogated.archive.foreign.values import digest
from neurogated.components.texts import Texts
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.extras import import_extra
from neurogated.core.model import EdgeKey, MemoryEdge
from neurogated.core.scope import Scope
from neurogated.errors import DatasetError, InputError
from neurogated.ingestion.document import MOST_CHARS, Document, Passage
from neurogated.session import Notice, Session
from neurogated.utils.hash_utils import compute_mdhash_id

_RELATION, _WEIGHT = "links to", 0.5
_AT_ONCE = 1024


@dataclass(slots=True)
class Synced:
    """What changed between two visits of a folder."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    renamed: int = 0
    """Notes whose text is now under another path. They are among those added and removed."""
    unchanged: int = 0
    linked: int = 0
    """Links between notes that became edges."""
    faults: list[str] = field(default_factory=list)
    """Notes that cannot be stored, each with the reason."""


class _Note(NamedTuple):
    id: str
    digest: str
    names: tuple[str, ...]
    """Its path, the name of its file and its title, as links write them."""
    targets: tuple[tuple[str, str], ...]
    """Its links, as paths from its own folder and as written."""

    @classmethod
    def of(cls, note_id: str, path: str, found: str, links: Iterable[str], title: str) -> _Note:
        """Return a note whose text has the digest `found`."""
        whole, folder = PurePosixPath(path).with_suffix(""), str(PurePosixPath(path).parent)
        targets = [(os.path.normpath(f"{folder}/{link}").casefold(), link.casefold()) for link in links]
        names = tuple(name.casefold() for name in (str(whole), whole.name, title))
        return cls(note_id, found, names, tuple(targets))


class Vault:
    """Keeps the notes of a folder in a memory: each note is a document whose id follows from its path."""

    def __init__(self, session: Session, texts: Texts, folder: Path, user_id: str | None) -> None:
        self._session, self._texts, self._folder = session, texts, folder.resolve()
        self._user_id = session.of_user(user_id)
        if not folder.is_dir():
            raise DatasetError(f"{folder} is no folder")
        view = session.store.view()
        ids = [
            name for name in view.ids if name.startswith("vault-") and "#" not in name and view.find(name) is not None
        ]
        self._known: dict[str, _Note] = {}
        for node in session.store.get_nodes(ids):
            about = node.metadata
            if about.get("vault") == self._folder.name and node.scope.user_id == self._user_id:
                path, title = about["path"], node.title or ""
                self._known[path] = _Note.of(node.id, path, about["digest"], about.get("links", ()), title)
        self._pairs: set[tuple[str, str]] | None = None
        """The links that have edges; None before the first look, since a visit that was killed may have made none."""

    def sync(self, paths: Iterable[Path] | None = None) -> Synced:
        """Store the notes that are new or changed, and delete those that are gone.

        Args:
            paths: where something changed; None looks at the whole folder.
        """
        done, found, changed = Synced(), dict[str, _Note](), list[Document]()
        looked_at = self._all() if paths is None else self._among(paths)
        for path in looked_at:
            text = self._text(path)
            known = self._known.get(path)
            if known is not None and known.digest == digest(text):
                found[path] = known
                done.unchanged += 1
                continue
            try:
                document = self._document(path, text)
            except InputError as error:
                done.faults.append(f"{path}: {error}")
                continue
            if document is not None:
                changed.append(document)
                links, title = document.metadata.get("links", ()), document.title or front_title(text)
                found[path] = _Note.of(str(document.id), path, digest(text), links, title)
                done.changed += known is not None
                done.added += known is None
        gone = {path: self._known[path] for path in looked_at if path in self._known and path not in found}
        gone |= {path: note for path, note in self._known.items() if paths is None and path not in found}
        self._write(changed, found, gone, done)
        return done

    def watch(self) -> Iterator[Synced]:
        """Yield what changed, now and whenever files of the folder change."""
        watchfiles = import_extra("watchfiles", "vault", use="to watch a folder")
        yield self.sync()
        for changes in watchfiles.watch(self._folder, yield_on_timeout=False):
            places = [Path(place) for _, place in changes]
            # A folder that moves tells of itself only.
            is_small = all(place.suffix.casefold() in NOTES for place in places)
            yield self.sync(places if is_small else None)

    def _write(self, changed: list[Document], found: dict[str, _Note], gone: Mapping[str, _Note], done: Synced) -> None:
        was = self._known
        for begin in range(0, len(changed), _AT_ONCE):
            self._texts.store(changed[begin : begin + _AT_ONCE])
        if gone:
            self._texts.delete([note.id for note in gone.values()], {})
        new = {note.digest for path, note in found.items() if path not in was}
        done.removed, done.renamed = len(gone), sum(note.digest in new for note in gone.values())
        self._known = {path: note for path, note in (was | found).items() if path not in gone}
        if not (changed or gone or self._pairs is None):
            return
        before, after = self._links(was) if self._pairs is None else self._pairs, self._links(self._known)
        stored = {str(document.id) for document in changed}
        wanted = {pair for pair in after if self._pairs is None or pair not in before or not stored.isdisjoint(pair)}
        done.linked = self._connect(wanted, before - after)
        self._pairs = after

    def _all(self) -> list[str]:
        found = []
        for folder, folders, names in os.walk(self._folder):
            folders[:] = [name for name in folders if not name.startswith(".")]
            inside = Path(folder).relative_to(self._folder)
            found += [(inside / name).as_posix() for name in names if Path(name).suffix.casefold() in NOTES]
        return sorted(found)

    def _among(self, paths: Iterable[Path]) -> list[str]:
        inside = {path.relative_to(self._folder) for path in paths if path.is_relative_to(self._folder)}
        return sorted(path.as_posix() for path in inside if not any(part.startswith(".") for part in path.parts))

    def _text(self, path: str) -> str:
        try:
            return (self._folder / path).read_text(encoding="utf-8-sig", errors="replace")
        except OSError:
            # Gone since it was listed.
            return ""

    def _document(self, path: str, text: str) -> Document | None:
        """Return a note as a document; None if it is empty or gone."""
        note = read_note(path, text)
        if not isinstance(note, Incoming):
            return None
        if len(text) > MOST_CHARS:
            raise InputError(f"it has more than {MOST_CHARS:,} characters")
        about = {**note.details["metadata"], "vault": self._folder.name, "digest": digest(text)}
        node_id = compute_mdhash_id("\0".join((self._user_id or "", self._folder.name, path)), prefix="vault-")
        details: dict[str, Any] = {"title": note.details.get("title"), "metadata": about, "markdown": True}
        return Document((Passage(text),), scope=Scope(user_id=self._user_id), id=node_id, **details)

    def _links(self, notes: Mapping[str, _Note]) -> set[tuple[str, str]]:
        """Return the pairs of notes of which one links to the other, by path, file name or title."""
        by_name: dict[str, str] = {}
        for note in notes.values():
            for name in note.names:
                by_name.setdefault(name, note.id)
        targets = (
            (note.id, by_name.get(beside) or by_name.get(link))
            for note in notes.values()
            for beside, link in note.targets
        )
        return {(source, target) for source, target in targets if target and target != source}

    def _connect(self, wanted: set[tuple[str, str]], ended: set[tuple[str, str]]) -> int:
        """Add the edges that are missing, and remove those of links that ended; return how many were added."""
        session, made = self._session, list[MemoryEdge]()

        def plan() -> GraphDelta:
            now = session.clock()
            missing = [pair for pair, row in self._rows(wanted).items() if row < 0]
            made[:] = [MemoryEdge(*pair, EdgeType.ASSOC, _WEIGHT, now, relation=_RELATION) for pair in missing]
            old = tuple(EdgeKey(*pair, EdgeType.ASSOC) for pair, row in self._rows(ended).items() if row >= 0)
            return GraphDelta(removed_edges=old, edges=tuple(made), reason="links of notes", at=now)

        if -1 in self._rows(wanted).values() or any(row >= 0 for row in self._rows(ended).values()):
            session.commit(plan, lambda _: Notice("changed"))
        return len(made)

    def _rows(self, pairs: set[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """Return the row of the edge of each pair whose notes are both there, -1 if there is no edge."""
        view = self._session.store.view()
        there = sorted(pair for pair in pairs if all(view.find(name) is not None for name in pair))
        if not there:
            return {}
        sources, targets = (view.rows([pair[end] for pair in there]) for end in (0, 1))
        return dict(zip(there, view.edge_rows(sources, targets, EdgeType.ASSOC).tolist(), strict=True))
