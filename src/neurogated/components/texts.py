"""The calls that write, answer and list memories."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, cast
from uuid import UUID

from neurogated.context.echo import EchoLinks, without_blocks
from neurogated.core.clock import checked_version
from neurogated.core.commit import USER_DELETED
from neurogated.core.delta import Access
from neurogated.core.filters import Filter, FilterOptions, memories_among, owned
from neurogated.core.habits import explains_reading, refuse_unknown
from neurogated.core.model import MemoryNode, checked_count
from neurogated.core.quoting import OPENING
from neurogated.core.scope import AnyUser
from neurogated.core.trace import Recall, id_of, listed
from neurogated.errors import InputError
from neurogated.ingestion.contents import Contents
from neurogated.ingestion.document import Document, Passage
from neurogated.ingestion.drafts import Revision
from neurogated.ingestion.writer import Check
from neurogated.retrieval.neuro_retriever import RecallOptions
from neurogated.session.runtime import show_progress
from neurogated.session.session import Notice, Session
from neurogated.text.strings import composed
from neurogated.tiers.canvas import CanvasOwner


@explains_reading("it is the list of the memories, with .cursor")
class Page(list[MemoryNode]):
    """One page of a list of memories.

    Attributes:
        cursor: for the next call of `list`; None after the last memory.
    """

    cursor: str | None = None


def listed_by(session: Session, filters: FilterOptions) -> Filter:
    """Return the filter of the memories that a list with these keyword arguments has."""
    session.of_user(filters.get("user_id"))
    return memories_among(filters)


def page_of(
    session: Session, limit: int | None, cursor: str | None, filters: FilterOptions, *, newest: bool = False
) -> Page:
    """Return the page after `cursor` of the memories that the filters admit; see `NeuroGraphMemory.list`."""
    checked_count("limit", 0 if limit is None else limit)
    view = session.store.view(filters=listed_by(session, filters))
    rows = view.admitted_nodes()[:: -1 if newest else 1]
    if cursor is not None:
        after = view.find(cursor)
        after = view.rows_by_id.get(cursor) if after is None else after
        if after is None:
            raise InputError(f"the cursor {cursor!r} belongs to no page of this memory; list from the beginning")
        rows = rows[rows < after] if newest else rows[rows > after]
    shown = rows if limit is None else rows[:limit]
    page = Page(session.store.get_nodes(view.names(shown), missing_ok=True))
    page.cursor = view.ids[int(shown[-1])] if 0 < shown.size < rows.size else None
    return page


class Recalls:
    """Answers questions and notifies the subscribers."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def answer(self, queries: Sequence[str], options: RecallOptions) -> list[Recall]:
        """Return the recall of each query; all queries are embedded in one batch."""
        with self._session.runtime.work("recalling"):
            recalls = self.read(queries, options)
            for recall in recalls:
                self.hand_out(recall, options)
            return recalls

    def read(self, queries: Sequence[str], options: RecallOptions) -> list[Recall]:
        """Return the recall of each query with the questions of its conflicts; notify nobody."""
        refuse_unknown(options, sorted({*RecallOptions.__annotations__, *FilterOptions.__annotations__}))
        self._session.of_user(options.get("user_id"))
        then, store = checked_version(options.get("as_of")), self._session.store
        recalls = []
        for recall in self._session.retriever.recall_batch(queries, **options):
            conflicts = recall.conflicts
            if conflicts:
                told = store if then is None else store.as_of(then)
                conflicts = tuple(self._session.explained(conflicts, told))
            recalls.append(replace(recall, conflicts=conflicts) if conflicts else recall)
        return recalls

    def hand_out(self, recall: Recall, options: RecallOptions) -> None:
        """Notify the subscribers. Recalls from the past leave the canvas and the accesses as they are."""
        user_id = self._session.of_user(options.get("user_id"))
        is_present = options.get("as_of") is None and options.get("valid_at") is None
        has_owner = is_present and not isinstance(user_id, AnyUser)
        session_id = options.get("session_id")
        owner = CanvasOwner(cast("str | None", user_id), session_id and composed(session_id)) if has_owner else None
        access = (lambda: recall.access) if is_present else None
        self._session.notify(Notice("recalled", (recall,), owner, access, user_id))


class _OwnText(NamedTuple):
    """A document that may quote memories in blocks, as `get_context` writes them."""

    document: Document | None
    """The part to store; None if all of it is left out."""
    left_out: Sequence[str] = ()
    """The ids of the memories in the blocks that are left out."""
    quoted: Sequence[str] = ()
    """The ids of the memories in the blocks of a document that has nothing else."""


class Texts:
    """Writes texts and notifies the subscribers."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def store(
        self,
        documents: Iterable[Document],
        *,
        total: int | None = None,
        progress: bool | None = False,
        join: Check | None = None,
        are_checked: bool = False,
    ) -> list[list[str]]:
        """Store documents, and return the node ids of each.

        Args:
            documents: read one after another.
            total: their number, for the progress bar.
            progress: show a progress bar; None shows it if the output is a terminal.
            join: a further check, which adds to each delta.
            are_checked: whether `Writer.check_document` was called for each.
        """
        has_facts = False

        def checked(document: Document) -> Document:
            nonlocal has_facts
            if not are_checked:
                self._session.writer.check_document(document)
            self._session.of_user(document.scope.user_id)
            has_facts = has_facts or document.may_be_fact
            return document

        writer = self._session.writer if join is None else self._session.writer.joining(join)
        with self._session.runtime.work("indexing"):
            stored = writer.add(map(checked, documents))
            added = list(show_progress(stored, "indexing", "document", total=total, progress=progress))
        if added:
            names = [node_id for ids in added for node_id in ids]
            self._session.notify(Notice("added", (names,), has_facts=has_facts))
        return added

    def add(self, documents: Sequence[Document]) -> list[str]:
        """Store documents that were checked, and link the echoes among them; return the ids of all.

        With `echoes=skip`, blocks of memories are left out. A document of blocks only has the ids of these memories.
        """
        session = self._session
        own_texts = [self._own_text(document) for document in documents]
        links = EchoLinks(
            self._session.store,
            self._handed_out(),
            [(one.scope, one.main.role, one.main.text, ids) for one, _, ids in own_texts if one is not None and ids],
        )
        roles = {passage.role for document in documents for passage in document.passages}
        may_echo = session.config.metabolism.echoes != "off" and (links.blocks or "assistant" in roles)
        join = links.added_to if may_echo else None
        left = [one.document for one in own_texts if one.document is not None]
        in_order = iter(self.store(left, join=join, are_checked=True))
        added = [name for one in own_texts for name in (one.left_out if one.document is None else next(in_order))]
        echoed = [(given.main.text, one.left_out) for given, one in zip(documents, own_texts, strict=True)]
        user_id = next(iter(sorted({one.scope.user_id for one in documents if one.scope.user_id})), None)
        for text, repeated in (*(one for one in echoed if one[1]), *links.found):
            session.notify(Notice("echoed", (text, repeated), access=partial(Access.of, repeated), user_id=user_id))
        return added

    def noted(self, contents: Contents) -> Contents:
        """Return contents with notes on the stored memories that they are about to replace."""
        session, names = self._session, [one.id for one in contents if one.id is not None]
        stored = session.store.get_nodes(names, missing_ok=True) if names else []
        return contents.noted(stored, session.clock(), session.config.zone)

    def update(self, node_id: str | UUID, change: Revision) -> MemoryNode:
        """Write a new version of a memory."""
        with self._session.runtime.work("updating"):
            node = self._session.writer.update(str(node_id), change)
        self._session.notify(Notice("updated", (node,)))
        return node

    def delete(self, ids: str | UUID | Iterable[str | UUID] | None, filters: FilterOptions) -> int:
        """Delete the memories that ids or filters name; return their number."""
        if (ids is None) == (not filters):
            raise InputError("give either the ids of memories or filters such as user_id='ana'")
        if ids is not None:
            return self._deleted(self._session.writer.delete(map(id_of, listed(ids))))
        given = [name for name, value in filters.items() if value not in (None, (), [], frozenset(), set())]
        if not given:
            raise InputError(f"no filter has a value ({', '.join(filters)}); name the memories to delete")
        self._session.of_user(filters.get("user_id"))
        reason = USER_DELETED if given == ["user_id"] else "delete"
        count = self._deleted(self._session.writer.delete_all(owned(filters), reason))
        self._session.clear_caches()
        return count

    def delete_document(self, document_id: str) -> int:
        """Delete all memories of a document; return their number."""
        return self._deleted(self._session.writer.delete_document(document_id))

    def _deleted(self, names: list[str]) -> int:
        self._session.notify(Notice("deleted", (names,)))
        return len(names)

    def _handed_out(self) -> Callable[[str | None], list[str]]:
        """Return a function that returns the memories that recalls handed out to a user lately."""
        session, now = self._session, self._session.clock()
        return lambda user_id: session.runtime.handed_out.ids(session.config.namespace, user_id, now)

    def _own_text(self, document: Document) -> _OwnText:
        """Return the part of a document that is stored, and the ids of the memories that its blocks quote."""
        passage, scope, config = document.main, document.scope, self._session.config
        if OPENING not in passage.text:
            return _OwnText(document)
        nodes = self._session.store.get_nodes(self._handed_out()(scope.user_id), missing_ok=True)
        if config.metabolism.echoes != "skip":
            own = [one for one in nodes if one.scope.user_id == scope.user_id]
            text, quoted = without_blocks(passage.text, own)
            return _OwnText(document, quoted=() if text else quoted)
        if config.read_only or document.id is not None:
            return _OwnText(document)
        # A lost block could not be found in another session or after the memories have expired.
        owners = {scope, replace(scope, session_id=None)}
        lasting = [one for one in nodes if one.scope in owners and one.expires_at is None]
        text, quoted = without_blocks(passage.text, lasting)
        if text and quoted:
            new = tuple(replace(one, text=text) if one is passage else one for one in document.passages)
            return _OwnText(replace(document, passages=new), quoted)
        # A message with details of its own is stored, for they would be lost.
        bare = Document((Passage(passage.text, role=passage.role),), scope=scope)
        return _OwnText(None, quoted) if quoted and document == bare else _OwnText(document)
