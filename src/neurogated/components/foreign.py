"""Texts of other systems, added to a memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from neurogated.archive.foreign import Fault, Incoming, Note, read_file
from neurogated.components.texts import Texts
from neurogated.errors import InputError
from neurogated.ingestion.document import Document, Passage, read_details
from neurogated.progress import show_progress
from neurogated.session import Session
from neurogated.utils.hash_utils import compute_mdhash_id

_AT_ONCE = 1024
_MOST_SHOWN = 100


@dataclass(slots=True)
class Imported:
    """What an import did."""

    texts: int = 0
    """Texts of the file."""
    added: int = 0
    """Those that were not there before."""
    faults: int = 0
    """Parts of the file that could not be imported."""
    shown: list[str] = field(default_factory=list)
    """The first 100 faults with their places."""
    notes: list[str] = field(default_factory=list)
    """What you should know of the file, such as that it looks incomplete."""


def import_from(
    session: Session, texts: Texts, source: str, path: Path, *, user_id: str | None, progress: bool | None
) -> Imported:
    """Add the texts of a file; see `memory.admin.import_from`."""
    done = Imported()
    found = show_progress(read_file(source, path), "importing", "text", progress=progress)
    documents = _documents(found, session, source, user_id, done)
    while batch := list(islice(documents, _AT_ONCE)):
        view = session.store.view()
        done.added += sum(view.find(node_id) is None for node_id in {str(document.id) for document in batch})
        texts.store(batch)
        done.texts += len(batch)
    return done


def _documents(
    found: Iterable[Incoming | Fault | Note], session: Session, source: str, user_id: str | None, done: Imported
) -> Iterator[Document]:
    """Yield the texts as documents, and count the rest in `done`."""
    for one in found:
        if isinstance(one, Note):
            done.notes.append(one)
            continue
        read = _document(one, source, user_id) if isinstance(one, Incoming) else one
        longest = session.config.indexing.max_document_chars
        if isinstance(read, Document) and len(read.passages[0].text) > longest:
            read = Fault(one.place, f"it has more than {longest:,} characters; raise indexing.max_document_chars")
        if isinstance(read, Document):
            yield read
        else:
            done.faults += 1
            done.shown += [str(read)] if len(done.shown) < _MOST_SHOWN else []


def _document(one: Incoming, source: str, user_id: str | None) -> Document | Fault:
    """Return a text as a document, whose id is a hash of its source, owner and key."""
    try:
        scope, given = read_details({**one.details, **({"user_id": user_id} if user_id else {})})  # type: ignore[typeddict-item]
        name = "\0".join((scope.user_id or "", scope.session_id or "", *scope.path, one.key))
        node_id = compute_mdhash_id(name, prefix=f"{source}-")
        return Document((Passage(one.text, speaker=one.speaker, role=one.role),), scope=scope, id=node_id, **given)
    except (InputError, TypeError) as error:
        return Fault(one.place, str(error))
