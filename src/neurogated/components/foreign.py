"""Texts of other systems, added to a memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path

from neurogated.archive.foreign import Fault, Incoming, IncomingItem, Note, read_file
from neurogated.components.items import checked_item, put_items
from neurogated.components.texts import Texts
from neurogated.core.clock import to_utc
from neurogated.core.model import json_metadata
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

    def count(self, fault: Fault) -> None:
        """Count a fault."""
        self.faults += 1
        self.shown += [str(fault)] if len(self.shown) < _MOST_SHOWN else []


def import_from(
    session: Session, texts: Texts, source: str, path: Path, *, user_id: str | None, progress: bool | None
) -> Imported:
    """Add the texts of a file; see `memory.admin.import_from`."""
    done = Imported()
    found = show_progress(read_file(source, path), "importing", "text", progress=progress)
    checked = _checked(found, source, user_id, session.config.indexing.max_document_chars, done)
    while batch := list(islice(checked, _AT_ONCE)):
        documents = list(_lasting((one for one in batch if isinstance(one, Document)), session.clock(), done))
        view, names = session.store.view(), {str(document.id) for document in documents}
        done.added += sum(view.find(name) is None for name in names)
        texts.store(documents)
        put = put_items(session, [one for one in batch if isinstance(one, IncomingItem)], user_id)
        for item in put.refused:
            done.count(Fault(item.place, "an item of another user has its namespace and key"))
        done.added += put.new
        done.texts += len(documents) + sum(isinstance(one, IncomingItem) for one in batch) - len(put.refused)
    return done


def _lasting(documents: Iterable[Document], now: datetime, done: Imported) -> Iterator[Document]:
    """Yield the documents that have not expired, and count the others in `done`."""
    for one in documents:
        if one.expires_at and to_utc(one.expires_at) <= now:
            done.count(Fault(str(one.id), f"it expired at {one.expires_at.isoformat()}"))
        else:
            yield one


def _checked(
    found: Iterable[Incoming | IncomingItem | Fault | Note],
    source: str,
    user_id: str | None,
    longest: int,
    done: Imported,
) -> Iterator[Document | IncomingItem]:
    """Yield the texts and items that can be stored, and count the rest in `done`."""
    for one in found:
        if isinstance(one, Note):
            done.notes.append(one)
        elif isinstance(one, Fault):
            done.count(one)
        else:
            try:
                read = _document(one, source, user_id, longest) if isinstance(one, Incoming) else checked_item(one)
            except (InputError, TypeError) as error:
                done.count(Fault(one.place, str(error)))
            else:
                yield read


def _document(one: Incoming, source: str, user_id: str | None, longest: int) -> Document:
    """Return a text as a document, whose id is a hash of its source, owner and key."""
    if len(one.text) > longest:
        raise InputError(f"it has more than {longest:,} characters; raise indexing.max_document_chars")
    json_metadata(one.details.get("metadata", {}))
    scope, given = read_details({**one.details, **({"user_id": user_id} if user_id else {})})  # type: ignore[typeddict-item]
    name = "\0".join((scope.user_id or "", scope.session_id or "", *scope.path, one.key))
    node_id = compute_mdhash_id(name, prefix=f"{source}-")
    return Document(
        (Passage(one.text, speaker=one.speaker, role=one.role),), scope=scope, id=node_id, **{"stamped": False, **given}
    )
