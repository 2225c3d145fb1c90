"""Imports from other systems: their memories, messages and items of stores, put in with their times."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Literal, get_args

from neurogated.archive.foreign import PAM, Fault, Incoming, IncomingItem, Left, Note
from neurogated.components.texts import Texts
from neurogated.core.clock import to_micros, to_utc
from neurogated.core.model import MemoryNode, json_metadata
from neurogated.core.scope import Scope
from neurogated.errors import ConfigError, InputError
from neurogated.ingestion.chunker import Chunker
from neurogated.ingestion.document import MOST_CHARS, Document, Passage, checked_ttl, read_details
from neurogated.ingestion.drafts import Revision, expiry
from neurogated.ingestion.items import id_of, item_metadata, item_nodes, leaves, node_ids, number_of_texts, value_of
from neurogated.session.session import Notice, Session
from neurogated.utils.hash_utils import compute_mdhash_id


def checked_item(item: IncomingItem, now: datetime) -> IncomingItem:
    """Return an item as JSON has it with the end of its lifetime; raises InputError if it cannot be stored."""
    Scope(path=item.namespace)
    held = json_metadata(item_metadata(item.key, item.value))
    item = replace(item, key=held["key"], value=value_of(held))
    lifetime = checked_ttl(item.ttl and timedelta(minutes=item.ttl))
    if lifetime is None or item.expires_at is not None:
        return item
    return replace(item, expires_at=expiry(item.updated_at or item.created_at or now, lifetime))


def put_items(session: Session, items: Sequence[IncomingItem], user_id: str | None) -> tuple[int, list[IncomingItem]]:
    """Put the items of a user that are not stored in this or a later version; of several with one key, the last.

    Returns the number of new keys, and the items whose keys belong to another user, or to nobody.
    """
    user_id = session.of_user(user_id)
    found = {id_of(item.namespace, item.key): item for item in items}
    nodes = _nodes(session, _outdated(session, found, user_id)[0], found, user_id)
    with session.exclusively():
        old, others = _outdated(session, found, user_id)
        changed = {name: texts for name, texts in old.items() if name in nodes}
        put = [node for name in changed for node in nodes[name]]
        removed = [one for name, texts in changed.items() for one in node_ids(name, len(nodes[name]), texts)]
        if put:
            session.writer.put(put, removed, session.writer.present(), reason="import items")
    if put:
        session.notify(Notice("added", ([node.id for node in put],)))
    refused = [item for item in items if id_of(item.namespace, item.key) in others]
    return sum(not texts for texts in changed.values()), refused


def _outdated(
    session: Session, items: Mapping[str, IncomingItem], user_id: str | None
) -> tuple[dict[str, int], set[str]]:
    """Return the items to put, each with the number of nodes of its stored version, and the ids that others own."""
    stored = {node.id: node for node in session.store.get_nodes(list(items), missing_ok=True)}
    others = {name for name, node in stored.items() if node.scope.user_id != user_id}
    outdated = dict[str, int]()
    for name, item in items.items():
        if name not in stored:
            outdated[name] = 0
        elif name not in others:
            known, end = stored[name].metadata, stored[name].expires_at
            # A read moves the end of a lifetime, and is no change.
            lives = item.expires_at is None or (end is not None and end >= item.expires_at)
            is_same = lives and value_of(known) == item.value
            if not is_same and known["updated_at"] <= to_micros(_updated(session, item)):
                outdated[name] = number_of_texts(known)
    return outdated, others


def _updated(session: Session, item: IncomingItem) -> datetime:
    return item.updated_at or item.created_at or session.clock()


def _nodes(
    session: Session, names: Iterable[str], items: Mapping[str, IncomingItem], user_id: str | None
) -> dict[str, list[MemoryNode]]:
    """Return the nodes of items, one for each chunk of its texts and numbers; the first one holds the value."""
    indexing, embedder = session.config.indexing, session.parts.embedder
    chunker = Chunker.of(indexing, embedder)
    chunks = {name: list(dict.fromkeys(chunker.split("\n".join(leaves(items[name].value))))) for name in names}
    distinct = list(dict.fromkeys(text for texts in chunks.values() for text in texts))
    vectors = dict(zip(distinct, embedder.embed_documents(distinct), strict=True)) if distinct else {}
    found, now = dict[str, list[MemoryNode]](), session.clock()
    for name, texts in chunks.items():
        item = items[name]
        updated = _updated(session, item)
        metadata = item_metadata(item.key, item.value, to_micros(updated), item.ttl)
        scope, created = Scope(user_id, path=item.namespace), item.created_at or updated
        times = {"created_at": created, "last_accessed": now}
        made = item_nodes(name, texts, vectors, metadata, scope=scope, expires_at=item.expires_at, **times)
        found[name] = session.writer.read(made)
    return found


_AT_ONCE = 1024
_MOST_SHOWN = 100

Branches = Literal["seen", "all"]
"""Whether only the branch of a conversation that the user saw last is imported, or the others, too."""


@dataclass(slots=True)
class Imported:
    """What an import did. `present` records of the file are either texts that were taken, or left out."""

    source: str = ""
    """The format of the file."""
    present: int = 0
    """Records of the file: messages, memories, facts, items."""
    texts: int = 0
    """Those that were taken."""
    added: int = 0
    """Texts that were not there before."""
    left_out: dict[str, int] = field(default_factory=dict)
    """The number of records that were not taken, by reason."""
    parts: dict[str, int] = field(default_factory=dict)
    """The number of parts of taken messages that are no words, by kind, such as `image`."""
    faults: int = 0
    """Records that could not be imported. They are among those left out."""
    ended: int = 0
    """Texts of an earlier import whose branch another one has replaced. They are no longer valid."""
    missing: int = 0
    """Texts of earlier imports of this source and user that the file no longer has."""
    deleted: int = 0
    """Those that were deleted."""
    shown: list[str] = field(default_factory=list)
    """The first 100 faults with their places."""
    notes: list[str] = field(default_factory=list)
    """What you should know of the file, such as that it looks incomplete."""

    def leave(self, reason: str, count: int = 1) -> None:
        """Count records that are left out."""
        self.left_out[reason] = self.left_out.get(reason, 0) + count

    def count(self, fault: Fault) -> None:
        """Count a fault."""
        self.faults += 1
        self.leave(fault.kind)
        self.shown += [str(fault)] if len(self.shown) < _MOST_SHOWN else []


def named(one: Incoming, source: str, user_id: str | None) -> tuple[str, Scope, dict[str, Any]]:
    """Return the id of the memory of a text, a hash of its format, owner and key, with its scope and other fields."""
    scope, given = read_details({**one.details, **({"user_id": user_id} if user_id else {})})  # type: ignore[typeddict-item]
    name = "\0".join((scope.user_id or "", scope.session_id or "", *scope.path, one.key))
    return compute_mdhash_id(name, prefix=f"{source}-"), scope, given


class Importing:
    """Adds the records of one file, in batches that are written and let go."""

    def __init__(
        self,
        session: Session,
        source: str,
        *,
        user_id: str | None,
        branches: Branches,
        include_private: bool,
    ) -> None:
        """Take the arguments of `memory.admin.import_from`; raises ConfigError."""
        if branches not in get_args(Branches):
            raise ConfigError(f"branches is {branches!r}, but must be 'seen' or 'all'")
        self._session, self._texts, self.done = session, Texts(session), Imported(source)
        self._user_id = user_id = Scope(user_id).user_id
        self._all_branches, self._has_private = branches == "all", include_private
        # The ids that `named` makes: other formats, and users, have ids that begin alike.
        view, is_own = session.store.view(), re.compile(f"{source}-[0-9a-f]{{32}}").fullmatch
        self._users = {user_id}
        """The owners of the texts of this file."""
        self._earlier = {
            name: view.scope_of(view.rows_by_id[name]).user_id
            for name in view.ids
            if is_own(name) and view.find(name) is not None
        }
        """The texts of earlier imports that this file did not have so far, with their owners."""

    def take(self, found: Iterable[Incoming | IncomingItem | Left | Fault | Note]) -> None:
        """Store the records."""
        done, session = self.done, self._session
        checked = self._checked(found)
        while batch := list(islice(checked, _AT_ONCE)):
            documents = [one for one in batch if isinstance(one, Document)]
            names = list({str(document.id) for document in documents})
            stored = {node.id: node.metadata for node in session.store.get_nodes(names, missing_ok=True)}
            done.added += len(names) - len(stored)
            # A hook told in which folder a message was said, which not every file does.
            folders = {name: {"folder": about["folder"]} for name, about in stored.items() if "folder" in about}
            self._texts.store(
                replace(one, metadata={**folders[one.id], **one.metadata}) if one.id in folders else one
                for one in documents
            )
            for document in documents:
                self._users.add(document.scope.user_id)
                self._earlier.pop(str(document.id), None)
            items = [one for one in batch if isinstance(one, IncomingItem)]
            new, refused = put_items(session, items, self._user_id)
            for item in refused:
                done.count(Fault(item.place, "an item of another user has its namespace and key", "of another user"))
            done.added += new
            done.texts += len(documents) + len(items) - len(refused)

    def _checked(
        self, found: Iterable[Incoming | IncomingItem | Left | Fault | Note]
    ) -> Iterator[Document | IncomingItem]:
        """Yield the texts and items that can be stored, and count the rest."""
        for one in found:
            if isinstance(one, Note):
                self.done.notes.append(one)
            elif isinstance(one, Left):
                self.done.leave(one.reason, one.count)
            elif isinstance(one, Fault):
                self.done.count(one)
            else:
                now = self._session.clock()
                try:
                    read = self._document(one) if isinstance(one, Incoming) else checked_item(one, now)
                except (InputError, AttributeError, TypeError, ValueError) as error:
                    self.done.count(Fault(one.place, str(error)))
                else:
                    end = None if read is None else read.expires_at
                    if end is not None and to_utc(end) <= now:
                        self.done.count(Fault(one.place, f"it expired at {end.isoformat()}", "expired"))
                    elif read is not None:
                        yield read

    def _document(self, one: Incoming) -> Document | None:
        """Return a text as a document; None if it is left out."""
        done = self.done
        if one.is_private and not self._has_private:
            done.leave("private, not to be remembered")
            return None
        if one.branch is not None:
            self._end(one)
            if not self._all_branches:
                done.leave("of another branch")
                return None
            # A text of a branch that was left is in a session of its own and marked.
            details = dict(one.details)
            if session := details.get("session_id"):
                details["session_id"] = f"{session}/{one.branch}"
            one = replace(one, details={**details, "metadata": {**details.get("metadata", {}), "branch": one.branch}})
        if len(one.text) > MOST_CHARS:
            done.count(Fault(one.place, f"it has more than {MOST_CHARS:,} characters", "too long"))
            return None
        json_metadata(one.details.get("metadata", {}))
        node_id, scope, given = named(one, done.source, self._user_id)
        if done.source == PAM:
            same = self._session.store.get_nodes([one.key], missing_ok=True)
            if any((node.scope, node.content) == (scope, one.text) for node in same):
                done.leave("in this memory already, which wrote the file")
                return None
        passage = Passage(one.text, speaker=one.speaker, role=one.role)
        document = Document((passage,), scope=scope, id=node_id, **{"stamped": False, **given})
        for part in one.without:
            done.parts[part] = done.parts.get(part, 0) + 1
        return document

    def _end(self, one: Incoming) -> None:
        """End the text of a branch, which an earlier import stored when the user saw it."""
        node_id = named(one, self.done.source, self._user_id)[0]
        if self._earlier.pop(node_id, self) is self:
            return
        (node,) = self._session.store.get_nodes([node_id])
        if node.valid_to is None:
            self._texts.update(
                node_id, Revision(valid_to=one.ended_at or one.details.get("timestamp") or self._session.clock())
            )
            self.done.ended += 1

    def reconcile(self, *, mirror: bool) -> None:
        """Count the texts of earlier imports that the file no longer has, and delete them if it mirrors the source."""
        done, gone = self.done, sorted(name for name, user_id in self._earlier.items() if user_id in self._users)
        if done.source == "vault":
            # `sync` keeps notes under such ids, too, and marks them.
            gone = [node.id for node in self._session.store.get_nodes(gone) if "vault" not in node.metadata]
        done.missing = len(gone)
        if gone and mirror:
            done.deleted = self._texts.delete(gone, {})
        elif gone:
            done.notes.append(f"{len(gone)} texts of earlier imports are not in this file; --mirror deletes them")
        done.present = done.texts + sum(done.left_out.values())
