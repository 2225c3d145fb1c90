"""Plans of writes: the chunks of documents to write, and their neighbours in the present store."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain, count, pairwise
from typing import Any

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock, offset_in_minutes, to_utc
from neurogated.core.contexts import remembered
from neurogated.core.edge_type import EdgeType
from neurogated.core.found import NOTHING_FOUND, Found, Statement
from neurogated.core.model import EdgeKey, MemoryNode
from neurogated.core.node_kind import EVENT
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import DOCUMENT, search_text
from neurogated.core.scope import Scope
from neurogated.core.view import GraphView
from neurogated.errors import InputError
from neurogated.ingestion.chunker import Chunker, with_front_matter
from neurogated.ingestion.document import (
    MOST_CHARS,
    PARTS_OF_MESSAGES,
    Document,
    Passage,
    checked_ttl,
    labelled_speaker,
)
from neurogated.ingestion.drafts import REACH, Batch, DocumentPart, Draft, Revision, SessionKey, expiry
from neurogated.ingestion.edge_builder import RecentNodes, UserGraphs
from neurogated.ingestion.sessions import SessionTurns, followers_without, turn_ids
from neurogated.ingestion.titles import find_names
from neurogated.text.keywords import count_words
from neurogated.text.strings import give_way
from neurogated.text.times import find_times
from neurogated.utils.hash_utils import arrival_id, compute_mdhash_id

_CHUNK = "chunk-"
_CHUNK_END = re.compile("#[0-9]+$")
_PART_END = re.compile(f"(?:{'|'.join(PARTS_OF_MESSAGES)})$")
_RESERVED = re.compile(f"(?:{_CHUNK}|fact-|conflict-)[0-9a-f]{{32}}")
"""The form of the ids of facts and conflicts, and of texts without an id of the caller."""

_find_times = remembered(16)(find_times)
"""A plan that is made again while the write lock is held does not read the text again."""

_NOT_FREE = "the id {!r} is not free for this user; choose another id"
_FRAME = MemoryNode("frame", "")
_NOBODY = frozenset({"system", "tool"})
"""Roles whose texts are nobody's words."""


class Planner:
    """Compares documents with the stored nodes. It writes nothing."""

    def __init__(self, recent: RecentNodes, chunker: Chunker, config: MemoryConfig, clock: Clock, batch: int) -> None:
        self._recent, self._store = recent, recent.store
        self._chunker = chunker
        self._config = config
        self._clock = clock
        self._batch = batch

    def parts(self, document: Document) -> Iterator[DocumentPart]:
        """Yield a document that was checked in parts of at most `batch` chunks; a text with an id is one part."""
        document = with_front_matter(document)
        drafts = self._drafts(document)
        size = self._batch if document.id is None else len(drafts)
        for begin in range(0, len(drafts), size):
            yield DocumentPart(drafts, begin, min(begin + size, len(drafts)), document.replace)

    def revision(self, node_id: str, change: Revision, at: datetime) -> list[DocumentPart]:
        """Return the part that changes a memory at `at`.

        All chunks of a text with an id change, or one chunk replaces them. The calls of tools of a message and their
        results keep their texts and kinds.

        Raises:
            UnknownIdError: the memory does not exist.
            InputError: the new version cannot be stored.
        """
        (first,) = self._store.get_nodes([node_id])
        others = stored(self._store, stored_with(self._store.view(), node_id)[1:])
        rest = {name for name in others if _CHUNK_END.sub("", name) == node_id}
        drafts = []
        for old in (first, *(one for name, one in others.items() if change.content is None or name not in rest)):
            is_text = old is first or old.id in rest
            of_it = change if is_text else change.beside(old.content)
            new, found = of_it.applied(old, at), old.found
            if "timestamp" in change.changes:
                found = found.changed(offset=offset_in_minutes(change.changes["timestamp"]))
            if new.kind == EVENT != old.kind:
                found = replace(found, outcome=0.0)
            if new.content != old.content:
                # Findings of the old text do not apply to the new one, which is not cut into chunks.
                part, times = None if rest else found.part, _find_times(new.content)
                stated = found.statement and found.statement.restated(new.content)
                names = _names(new.content, new.title, new.speaker, new.scope, stated)
                found = replace(found, entities=(), times=times, names=names, part=part, statement=stated)
            drafts.append(Draft.of(new, found))
        return [DocumentPart(drafts, 0, len(drafts))]

    def plan(self, every: Sequence[DocumentPart], removed: Sequence[str] = ()) -> Batch:
        """Return the batch that stores parts and removes texts, by their ids, for the present state of the store."""
        view = self._store.view()
        old = self._stored(every, view)
        parts = [part for part in every if part.replaces or not part.is_stored(old)]
        # Of several texts with one id, the last one is current.
        last = {part.name: part for part in parts if part.document[0].named}
        current = [part for part in parts if last.get(part.name, part) is part]
        drafts = {name: one.dated(old.get(name)) for name, one in self._merged(parts, current, old).items()}
        kept = {draft.id for part in last.values() for draft in part.document}
        gone = [name for part in last.values() for name in stored_with(view, part.name) if name not in kept]
        gone += [name for first in removed for name in stored_with(view, first)]
        old |= stored(self._store, gone)
        moving = {name: old[name] for name, draft in drafts.items() if name in old and draft.moves(old[name])}
        leaving = moving | {name: old[name] for name in gone if name in old}
        sessions = self._sessions(view, parts, drafts, old, moving=moving, leaving=leaving)
        chains = [part.ids_around for part in current if drafts[part.drafts[0].id].session is None]
        parted, joined = self._rejoined(view, sessions, leaving)
        for session in sessions:
            chains.append([turn.id for turn in session.turns])
            old |= session.stored
            parted += _parted(session)
            for node, position in session.moved():
                known = drafts.get(node.id) or Draft(node.id, node.content, {}, NOTHING_FOUND, node.scope, {})
                drafts[node.id] = known._replace(fields={**known.fields, "position": position})
        retold = [one.id for one in drafts.values() if one.id in old and one.content != old[one.id].content]
        around = [self._surroundings(old[name]) for name in retold if name not in moving]
        old |= stored(self._store, chain.from_iterable(around))
        to_write = [one for one in drafts.values() if one.id not in old or one.changes(old[one.id])]
        gone = [name for name in gone if name in old]
        return Batch(every, old, to_write, view, gone, [*chains, *around], parted, joined)

    def _merged(
        self, parts: Sequence[DocumentPart], current: Sequence[DocumentPart], old: Mapping[str, MemoryNode]
    ) -> dict[str, Draft]:
        """Return the drafts of the current parts by id, with the given fields of earlier drafts with these ids.

        Raises:
            InputError: an id belongs to a memory of another user.
        """
        drafts: dict[str, Draft] = {}
        for draft in chain.from_iterable(part.drafts for part in parts):
            earlier = drafts.get(draft.id)
            known = old.get(_first_id(draft.id)) if draft.named else old.get(draft.id)
            for owner in (one.scope.user_id for one in (earlier, old.get(draft.id)) if one is not None):
                if owner != draft.scope.user_id:
                    raise InputError(_NOT_FREE.format(draft.id))
            drafts[draft.id] = (draft if known is None else draft.owned_as(known)).merged_over(earlier)
        kept = {draft.id for part in current for draft in part.drafts}
        return {name: draft for name, draft in drafts.items() if name in kept}

    def _stored(self, parts: Sequence[DocumentPart], view: GraphView) -> dict[str, MemoryNode]:
        """Return the stored nodes of the parts and of their neighbours.

        A chunk or a fact gets another id if a memory with another text or of another user has its id. A memory keeps
        its id when its text is updated, so the old text needs a new id when it is added again.
        """
        around = chain.from_iterable(part.ids_around for part in parts)
        old = self._recent.read([name for name in around if name in view.rows_by_id], view)
        replaced = []
        for part in parts:
            for place in part.around:
                draft = part.document[place]
                if not draft.named and draft.id in view.rows_by_id and not draft.repeats(old.get(draft.id)):
                    part.document[place] = draft._replace(id=self._free_id(draft, view))
                    replaced.append(part.document[place].id)
        return old | stored(self._store, replaced)

    def _free_id(self, draft: Draft, view: GraphView) -> str:
        """Return the id of the memory with the draft's text, or the first free id in a chain of hashes."""
        node_id, free, prefix = draft.id, "", f"{draft.id.partition('-')[0]}-"
        while (row := _row(view, node_id)) is not None:
            if view.scope_of(row).user_id == draft.scope.user_id:
                node = stored(self._store, [node_id]).get(node_id)
                if draft.repeats(node):
                    return node_id
                free = free or (node_id if node is None else "")
            node_id = compute_mdhash_id(node_id, prefix=prefix)
        return free or node_id

    def check(self, document: Document) -> None:
        """Raise InputError for a document that is longer than `MOST_CHARS`, or whose id is not free.

        An id is not free if another user has it, or had it since the last compaction. One in the form of a hash is not
        free either, so that nobody learns or takes the id of another user's text; one of the user's own texts is.
        """
        if (length := sum([len(passage.text) for passage in document.passages])) > MOST_CHARS:
            raise InputError(f"a document has {length:,} characters, more than {MOST_CHARS:,}; split it")
        if document.id is None or document.statement is not None:
            return
        view, name = self._store.view(), document.id
        row = _row(view, name)
        is_own = row is not None and view.scope_of(row).user_id == document.scope.user_id
        if _RESERVED.fullmatch(name) and not (is_own and name.startswith(_CHUNK)):
            raise InputError(f"the id {name!r} has the form of the ids that the memory makes; choose another id")
        if not is_own and row is not None:
            raise InputError(_NOT_FREE.format(name))

    def _surroundings(self, node: MemoryNode) -> Sequence[str]:
        """Return the ids of a node and of its neighbours in its document or session, in order."""
        if node.scope.session_id is not None:
            ids = turn_ids(self._store.view(), node.scope.user_id, node.scope.session_id)
        elif (document_id := node.found.document_id) is not None:
            graph = UserGraphs(self._store.snapshot())[node.scope.user_id]
            ids = [graph.view.ids[row] for row in graph.rows_with([DOCUMENT + document_id]).tolist()]
        else:
            return ()
        place = ids.index(node.id) if node.id in ids else 0
        return ids[max(0, place - REACH) : place + REACH + 1]

    def _sessions(
        self,
        view: GraphView,
        parts: Sequence[DocumentPart],
        drafts: dict[str, Draft],
        old: Mapping[str, MemoryNode],
        *,
        moving: Mapping[str, MemoryNode],
        leaving: Mapping[str, MemoryNode],
    ) -> Collection[SessionTurns]:
        """Return the sessions of the new and the moving turns, with these turns at their places.

        The sessions lack the other turns of `leaving`, which are about to be removed. This also sets the positions and
        labels in the drafts of the new and the moving turns.
        """
        sessions: dict[SessionKey, SessionTurns] = {}
        placed: set[str] = set()
        for given, previous in chain.from_iterable(part.with_previous() for part in parts):
            draft = drafts.get(given.id)
            if draft is None or draft.session is None:
                continue
            if draft.session not in sessions:
                sessions[draft.session] = SessionTurns.read(self._recent, view, draft.session, leaving)
            if draft.id not in placed and (draft.id not in old or draft.id in moving):
                placed.add(draft.id)
                # A new chunk of a stored turn goes directly after the previous chunk.
                continued = previous.id if previous is not None and draft.named else None
                timestamp = draft.fields.get("timestamp", moving[draft.id].timestamp if draft.id in moving else None)
                arrives = timestamp is not None and timestamp == draft.arrived
                sessions[draft.session].add(draft.id, timestamp, continued, arrives=arrives)
        for session in sessions.values():
            before: str | None = ""
            for turn in session.turns:
                if turn.id in session.stored:
                    before = session.stored[turn.id].speaker or session.stored[turn.id].found.label
                elif turn.id in drafts:
                    draft = drafts[turn.id]
                    label = self._label(draft, before)
                    before = draft.fields.get("speaker", label)
                    found = draft.found if label is None else replace(draft.found, label=label)
                    drafts[turn.id] = draft._replace(found=found, fields={**draft.fields, "position": turn.position})
        return sessions.values()

    def _label(self, draft: Draft, before: str | None) -> str | None:
        """Return the label of a new turn, for searches; None for a turn whose speaker is given, or of a tool.

        `before` is the speaker or label of the previous turn, or an empty text for the first turn of a session. A name
        before a colon is a label if the previous turn has one too. A later piece of a message has that of the message.
        """
        if before is None or "speaker" in draft.fields or draft.fields.get("role") in _NOBODY:
            return None
        return labelled_speaker(draft.content) if (draft.found.part or (0, 0))[0] == 0 else before or None

    def _rejoined(
        self, view: GraphView, sessions: Iterable[SessionTurns], leaving: Mapping[str, MemoryNode]
    ) -> tuple[list[EdgeKey], list[EdgeKey]]:
        """Return the SEQ edges to remove because their turns leave, and the SEQ edges to add between stored turns."""
        if not leaving:
            return [], []
        arcs = view.arcs(view.rows(leaving), EdgeType.SEQ, both_ways=True)
        present = dict.fromkeys(map(view.edge_key, arcs.edge.tolist()))
        beside = {turn.id for session in sessions for turn in session.turns}
        now = {pair for session in sessions for pair in pairwise(turn.id for turn in session.turns)}
        wanted = [EdgeKey(*pair, EdgeType.SEQ) for pair in sorted(now) if not leaving.keys().isdisjoint(pair)]
        for source, target in followers_without(view, list(leaving.values())):
            # Skip a pair of turns that now has another turn in between.
            if (source, target) in now or not {source, target} <= beside:
                wanted.append(EdgeKey(source, target, EdgeType.SEQ))
        return [key for key in present if key not in wanted], [key for key in wanted if key not in present]

    def _drafts(self, document: Document) -> list[Draft]:
        drafts: list[Draft] = []
        ttl, zone, now = checked_ttl(document.ttl), self._config.zone, self._clock()
        times = {name: getattr(document, name) for name in ("valid_from", "valid_to", "expires_at")}
        lifetime = {name: time and to_utc(time, zone) for name, time in times.items()}
        if ttl is not None:
            lifetime["expires_at"] = expiry(now, ttl)
        # This hashes the whole text, so it runs once. Turns of a session and texts with an id belong to no document.
        document_id = None if document.in_session or document.id is not None else document.document_id
        outcome = (document.outcome or 0.0) if document.kind == EVENT else None
        offset = offset_in_minutes(document.timestamp)
        found_by = partial(Found, document_id=document_id, statement=document.statement, outcome=outcome, offset=offset)
        # The id of a fact is a hash of its parts.
        named = document.id is not None and document.statement is None
        base, has_parts, numbers = document.id or arrival_id("turn-"), document.has_parts, Counter[str]()
        if has_parts and document.id is None and document_id is not None:
            base = compute_mdhash_id(f"{document_id}\n0\n{document.main.text}", prefix=_CHUNK)
        for passage in document.passages:
            metadata = {**document.metadata, **passage.metadata}
            first = {**passage.aside, **metadata}
            names = _names(passage.text, document.title, passage.speaker, document.scope, document.statement)
            fields = {**lifetime, **document.fields_of(passage, zone)}
            chunks = [passage.text] if document.statement else self._chunks(document, passage, names)
            words = count_words([passage.text])[0] if document.in_session and len(chunks) > 1 else None
            whole, arrived = None if words is None else passage.text, now if document.is_stamped(passage) else None
            about: dict[str, Any] = {"named": named, "message": whole, "arrived": arrived}
            for place, chunk in enumerate(chunks):
                give_way()
                if document.id is not None or has_parts:
                    number = numbers[passage.part]
                    node_id = f"{base}{passage.part}" + (f"#{number}" if number else "")
                    numbers[passage.part] += 1
                elif document_id is None:
                    node_id = arrival_id("turn-") if drafts else base
                else:
                    # The hash includes the position, so that a repeated chunk gets a node of its own.
                    node_id = compute_mdhash_id(f"{document_id}\n{len(drafts)}\n{chunk}", prefix=_CHUNK)
                found = found_by(times=find_times(chunk), names=names, part=None if words is None else (place, words))
                own = metadata if place else first
                drafts.append(Draft(node_id, chunk, own, found, document.scope, fields, **about))
        return drafts

    def _chunks(self, document: Document, passage: Passage, names: Sequence[str]) -> list[str]:
        """Return the chunks of a passage, with room for the title and the speaker that are embedded with them."""
        frame = _FRAME.changed(title=document.title, speaker=passage.speaker)
        chunks = self._chunker.split(passage.text, search_text(frame), markdown=document.markdown)
        if len(chunks) == 1 or not names:
            return chunks
        # The found title is embedded with the later chunks.
        frame = replace(frame, found=Found(names=names))
        return self._chunker.split(passage.text, search_text(frame), markdown=document.markdown)


def stored(store: GraphStorePort, node_ids: Iterable[str]) -> dict[str, MemoryNode]:
    """Return the existing nodes by id."""
    wanted = list(dict.fromkeys(node_ids))
    return {node.id: node for node in store.get_nodes(wanted, missing_ok=True)} if wanted else {}


def stored_with(view: GraphView, node_id: str) -> list[str]:
    """Return the ids of all that was stored as one with a text: itself, its later chunks, and the parts of its message.

    They are present, unless `node_id` itself is not.
    """
    first = _row(view, node_id)
    found = [node_id]
    for head in (node_id, *(f"{node_id}{part}" for part in PARTS_OF_MESSAGES)):
        for place in count(int(head == node_id)):
            name = f"{head}#{place}" if place else head
            row = _row(view, name)
            if first is None or row is None:
                break
            # Before its removal, a text of another user may have had this id.
            if view.find(name) is not None and view.scope_of(row).user_id == view.scope_of(first).user_id:
                found.append(name)
    return found


def parts_of(view: GraphView, node_id: str) -> list[str]:
    """Return what `stored_with` does for a present text; none if there is no such text."""
    return stored_with(view, node_id) if view.find(node_id) is not None else []


def document_of(store: GraphStorePort, name: str) -> list[str]:
    """Return the ids of the nodes of a document, also of expired ones, by its id or that of one of its memories."""
    found = store.snapshot(whole=True)
    if (rows := found.rows_with([DOCUMENT + name])).size:
        return found.view.names(rows)
    if (node := stored(store, [name]).get(name)) is None:
        return []
    if node.found.document_id is not None:
        return document_of(store, node.found.document_id)
    return parts_of(store.view(), _first_id(name)) or [name]


def _row(view: GraphView, node_id: str) -> int | None:
    """Return the row of a present or removed node; None if the view never had the node."""
    row = view.rows_by_id.get(node_id)
    return row if row is not None and row < view.node_count else None


def _first_id(node_id: str) -> str:
    """Return the id of the text with which a named chunk, or a part of its message, is stored."""
    return _PART_END.sub("", _CHUNK_END.sub("", node_id))


def _names(
    text: str, title: str | None, speaker: str | None, scope: Scope, statement: Statement | None
) -> Sequence[str]:
    """Return the title and other names that a text gives its subject. Turns have no title."""
    if statement is not None:
        return (statement.subject,)
    return find_names(text) if (title, speaker, scope.session_id) == (None, None, None) else ()


def _parted(session: SessionTurns) -> Iterator[EdgeKey]:
    """Yield the SEQ edges between stored turns that a new turn separates."""
    before = [turn.id for turn in session.turns if turn.id in session.stored]
    now = set(pairwise(turn.id for turn in session.turns))
    view = session.view
    for source, target in [pair for pair in pairwise(before) if pair not in now]:
        rows = view.edge_rows(view.rows([source]), view.rows([target]), EdgeType.SEQ)
        if (rows >= 0).any():
            yield EdgeKey(source, target, EdgeType.SEQ)
