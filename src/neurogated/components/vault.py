"""A folder of Markdown notes that a memory keeps in step with: each is a document whose id follows from its path."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from neurogated.archive.foreign.incoming import Incoming
from neurogated.archive.foreign.notes import NOTES, front_title, read_note
from neurogated.archive.foreign.values import digest
from neurogated.components.texts import Texts
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey, MemoryEdge
from neurogated.core.scope import Scope
from neurogated.errors import DatasetError, InputError
from neurogated.ingestion.document import MOST_CHARS, Document, Passage
from neurogated.session.session import Notice, Session
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
    names: Sequence[str]
    """Its path, the name of its file and its title, as links write them."""
    targets: Sequence[tuple[str, str]]
    """Its links, as paths from its own folder and as written."""

    @classmethod
    def of(cls, note_id: str, path: str, found: str, links: Iterable[str], title: str) -> _Note:
        """Return a note whose text has the digest `found`."""
        whole = PurePosixPath(path).with_suffix("")
        targets = [(os.path.normpath(f"{whole.parent}/{link}").casefold(), link.casefold()) for link in links]
        return cls(note_id, found, [name.casefold() for name in (str(whole), whole.name, title)], targets)


class Vault:
    """The notes of a folder in the memory of a user; it knows them, so that a later visit reads only what changed."""

    def __init__(self, session: Session, folder: Path, user_id: str | None) -> None:
        self._session, self._folder, self._user_id = session, folder.resolve(), session.of_user(user_id)
        if not folder.is_dir():
            raise DatasetError(f"{folder} is no folder")
        self._known = dict(_stored(session, self._folder.name, self._user_id))
        self._pairs: set[tuple[str, str]] | None = None
        """The links that have edges; None before the first visit, since one that was killed may have made none."""

    def sync(self, places: Iterable[str] = ()) -> Synced:
        """Visit the files at `places`; the whole folder without any, or if one is no note: a folder may have moved."""
        known, found, done, changed = self._known, dict[str, _Note](), Synced(), list[Document]()
        visited = {os.path.relpath(place, self._folder) for place in places}
        if visited and all(Path(path).suffix.casefold() in NOTES for path in visited):
            found = {path: one for path, one in known.items() if path not in visited}
            paths = sorted(path for path in visited if not any(part.startswith(".") for part in Path(path).parts))
        else:
            paths = _paths(self._folder)
        done.unchanged = len(found)
        for path in paths:
            try:
                text = (self._folder / path).read_text(encoding="utf-8-sig", errors="replace")
                is_known = path in known and known[path].digest == digest(text)
                note = None if is_known else _document(self._folder.name, path, text, self._user_id)
            except FileNotFoundError:
                continue  # gone since it was listed
            except (OSError, InputError) as error:
                # What is stored of it stays.
                done.faults.append(f"{path}: {error}")
                found |= {path: known[path]} if path in known else {}
                continue
            if is_known:
                found[path] = known[path]
                done.unchanged += 1
            elif note is not None:
                changed.append(note)
                links, title = note.metadata.get("links", ()), note.title or front_title(text)
                found[path] = _Note.of(str(note.id), path, digest(text), links, title)
                done.changed += path in known
                done.added += path not in known
        self._write(dict(sorted(found.items())), changed, done)
        return done

    def _write(self, found: dict[str, _Note], changed: Sequence[Document], done: Synced) -> None:
        known, texts = self._known, Texts(self._session)
        for begin in range(0, len(changed), _AT_ONCE):
            texts.store(changed[begin : begin + _AT_ONCE])
        if gone := [one for path, one in known.items() if path not in found]:
            texts.delete([one.id for one in gone], {})
        new = {one.digest for path, one in found.items() if path not in known}
        done.removed, done.renamed = len(gone), sum(one.digest in new for one in gone)
        before, after = _links(known.values()) if self._pairs is None else self._pairs, _links(found.values())
        stored = {one.id for one in changed}
        wanted = after if self._pairs is None else {one for one in after if one not in before or stored & {*one}}
        done.linked = _connect(self._session, wanted, before - after)
        self._known, self._pairs = found, after


def _document(vault: str, path: str, text: str, user_id: str | None) -> Document | None:
    """Return a note as a document; None if it is empty."""
    note = read_note(path, text)
    if not isinstance(note, Incoming):
        return None
    if len(text) > MOST_CHARS:
        raise InputError(f"it has more than {MOST_CHARS:,} characters")
    about = {**note.details["metadata"], "vault": vault, "digest": digest(text)}
    name = compute_mdhash_id("\0".join((user_id or "", vault, path)), prefix="vault-")
    details: dict[str, Any] = {"title": note.details.get("title"), "metadata": about, "markdown": True}
    return Document((Passage(text),), scope=Scope(user_id), id=name, **details)


def _stored(session: Session, vault: str, user_id: str | None) -> Iterator[tuple[str, _Note]]:
    view = session.store.view()
    names = [one for one in view.ids if one.startswith("vault-") and "#" not in one and view.find(one) is not None]
    for one in session.store.get_nodes(names):
        about = one.metadata
        if about.get("vault") == vault and one.scope.user_id == user_id:
            path = about["path"]
            yield path, _Note.of(one.id, path, about["digest"], about.get("links", ()), one.title or "")


def _paths(root: Path) -> list[str]:
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        inside = Path(folder).relative_to(root)
        found += [(inside / name).as_posix() for name in names if Path(name).suffix.casefold() in NOTES]
    return sorted(found)


def _links(notes: Collection[_Note]) -> set[tuple[str, str]]:
    """Return the pairs of notes of which one links to the other: by a path, also from its own folder, or by a name."""
    by_name = dict[str, str]()
    for note in notes:
        for name in note.names:
            by_name.setdefault(name, note.id)
    targets = ((note.id, by_name.get(beside) or by_name.get(link)) for note in notes for beside, link in note.targets)
    return {(source, target) for source, target in targets if target and target != source}


def _connect(session: Session, wanted: set[tuple[str, str]], ended: set[tuple[str, str]]) -> int:
    """Add the edges that are missing, and remove those of links that ended; return how many were added."""
    made = list[MemoryEdge]()

    def plan() -> GraphDelta:
        now, missing = session.clock(), [pair for pair, row in _rows(session, wanted).items() if row < 0]
        made[:] = [MemoryEdge(*pair, EdgeType.ASSOC, _WEIGHT, now, relation=_RELATION) for pair in missing]
        old = tuple(EdgeKey(*pair, EdgeType.ASSOC) for pair, row in _rows(session, ended).items() if row >= 0)
        return GraphDelta(removed_edges=old, edges=tuple(made), reason="links of notes", at=now)

    if -1 in _rows(session, wanted).values() or any(row >= 0 for row in _rows(session, ended).values()):
        session.commit(plan, lambda _: Notice("changed"))
    return len(made)


def _rows(session: Session, pairs: set[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Return the row of the edge of each pair whose notes are both there, -1 if there is no edge."""
    view = session.store.view()
    there = sorted(pair for pair in pairs if all(view.find(name) is not None for name in pair))
    if not there:
        return {}
    sources, targets = (view.rows([pair[end] for pair in there]) for end in (0, 1))
    return dict(zip(there, view.edge_rows(sources, targets, EdgeType.ASSOC).tolist(), strict=True))
