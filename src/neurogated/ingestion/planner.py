"""Plans of writes: the chunks of documents to write, and their neighbours in the present store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain, pairwise
from uuid import uuid4

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock, to_utc
from neurogated.core.edge_type import EdgeType
from neurogated.core.found import NOTHING_FOUND, Found
from neurogated.core.model import EdgeKey, MemoryNode, json_metadata
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import render
from neurogated.core.times import find_times
from neurogated.core.words import count_words
from neurogated.errors import InputError
from neurogated.ingestion.chunker import Chunker
from neurogated.ingestion.document import Document, Passage, checked_ttl
from neurogated.ingestion.drafts import Batch, Draft, Part, SessionKey
from neurogated.ingestion.labels import labelled_speaker
from neurogated.ingestion.revision import expiry
from neurogated.ingestion.sessions import Session, followers_without
from neurogated.ingestion.titles import find_names
from neurogated.utils.hash_utils import compute_mdhash_id

__all__ = ["Planner", "stored"]


class Planner:
    """Compares documents with the stored nodes. It writes nothing."""

    def __init__(self, store: GraphStorePort, chunker: Chunker, config: MemoryConfig, clock: Clock) -> None:
        self._store = store
        self._chunker = chunker
        self._config = config
        self._clock = clock
        self._reach = max(1, config.indexing.cause_window)

    def parts(self, document: Document) -> Iterator[Part]:
        """Yield a document in parts of at most `indexing.batch_size` chunks.

        Raises:
            InputError: the document is longer than `indexing.max_document_chars`.
        """
        drafts = self._drafts(document)
        size = self._config.indexing.batch_size
        for begin in range(0, len(drafts), size):
            yield Part(drafts, begin, min(begin + size, len(drafts)))

    def plan(self, parts: Sequence[Part]) -> Batch:
        """Return the batch of some parts for the present state of the store."""
        sequence = self._store.view().sequence
        old = stored(self._store, chain.from_iterable(part.with_neighbours(self._reach) for part in parts))
        drafts: dict[str, Draft] = {}
        for draft in chain.from_iterable(part.drafts for part in parts):
            known = old.get(_first_id(draft.id)) if draft.named else old.get(draft.id)
            owned = draft if known is None else draft.owned_as(known)
            drafts[draft.id] = owned.merged_over(drafts.get(draft.id))
        moving = {name: old[name] for name, draft in drafts.items() if name in old and draft.moves(old[name])}
        sessions = self._sessions(parts, drafts, old, moving)
        chains: list[Sequence[str]] = [
            part.with_neighbours(self._reach) for part in parts if drafts[part.drafts[0].id].session is None
        ]
        parted, joined = self._rejoined(sessions, moving)
        for session in sessions:
            chains.append([turn.id for turn in session.turns])
            old |= session.stored
            parted += self._parted(session)
            drafts |= {
                name: _moved(drafts.get(name), session.stored[name], position) for name, position in session.moved()
            }
        _refuse_other_users(drafts.values(), old)
        to_revise = [one for one in drafts.values() if one.id in old and not _kept(one, old[one.id])]
        kept = [one for one in drafts.values() if one.id not in old or _kept(one, old[one.id])]
        # A turn with a new position and a new text gets its new position first.
        kept += [_as_stored(one, moving[one.id]) for one in to_revise if one.id in moving]
        to_write = [one for one in kept if one.id not in old or one.changes(old[one.id])]
        return Batch(parts, old, to_write, to_revise, chains, parted, joined, sequence)

    def _sessions(
        self,
        parts: Sequence[Part],
        drafts: dict[str, Draft],
        old: Mapping[str, MemoryNode],
        moving: Mapping[str, MemoryNode],
    ) -> Collection[Session]:
        """Return the sessions of the new and the moving turns, with these turns at their places.

        Also set the positions and speakers in the drafts of these turns.
        """
        sessions: dict[SessionKey, Session] = {}
        placed: set[str] = set()
        for given, previous in chain.from_iterable(part.with_previous() for part in parts):
            draft = drafts[given.id]
            if draft.session is None:
                continue
            if draft.session not in sessions:
                sessions[draft.session] = Session.read(self._store, *draft.session, self._reach, moving)
            if draft.id not in placed and (draft.id not in old or draft.id in moving):
                placed.add(draft.id)
                # A new chunk of a stored turn goes directly after the previous chunk.
                continued = previous.id if previous is not None and draft.named else None
                timestamp = draft.fields.get("timestamp", moving[draft.id].timestamp if draft.id in moving else None)
                sessions[draft.session].add(draft.id, timestamp, continued)
        for session in sessions.values():
            speaker: str | None = ""
            for turn in session.turns:
                if turn.id in session.stored:
                    speaker = session.stored[turn.id].speaker
                elif turn.id in drafts:
                    draft = drafts[turn.id]
                    speaker = self._speaker(draft, speaker)
                    found = {} if speaker is None else {"speaker": speaker}
                    drafts[turn.id] = replace(draft, fields={**draft.fields, **found, "position": turn.position})
        return sessions.values()

    def _speaker(self, draft: Draft, before: str | None) -> str | None:
        """Return the speaker of a new turn.

        `before` is the speaker of the previous turn, or an empty text for the first turn of a session. A name before a
        colon is the speaker if the previous turn has a speaker too. A later piece of a message has the speaker of the
        previous piece.
        """
        given: str | None = draft.fields.get("speaker")
        if given is not None or before is None or not self._config.indexing.find_speakers:
            return given
        return labelled_speaker(draft.content) if (draft.found.part or (0, 0))[0] == 0 else before or None

    def _rejoined(
        self, sessions: Iterable[Session], moving: Mapping[str, MemoryNode]
    ) -> tuple[list[EdgeKey], list[EdgeKey]]:
        """Return the SEQ edges to remove because their turns move, and the SEQ edges to add between stored turns."""
        if not moving:
            return [], []
        view = self._store.view()
        arcs = view.arcs(view.rows(moving), EdgeType.SEQ, both_ways=True)
        present = dict.fromkeys(map(view.edge_key, arcs.edge.tolist()))
        beside = {turn.id for session in sessions for turn in session.turns}
        now = {pair for session in sessions for pair in pairwise(turn.id for turn in session.turns)}
        wanted = [EdgeKey(*pair, EdgeType.SEQ) for pair in sorted(now) if not moving.keys().isdisjoint(pair)]
        for source, target in followers_without(self._store, list(moving.values())):
            # Skip a pair of turns that now has another turn in between.
            if (source, target) in now or not {source, target} <= beside:
                wanted.append(EdgeKey(source, target, EdgeType.SEQ))
        return [key for key in present if key not in wanted], [key for key in wanted if key not in present]

    def _parted(self, session: Session) -> Iterator[EdgeKey]:
        """Yield the SEQ edges between stored turns that a new turn separates."""
        before = [turn.id for turn in session.turns if turn.id in session.stored]
        now = set(pairwise(turn.id for turn in session.turns))
        pairs = [pair for pair in pairwise(before) if pair not in now]
        view = self._store.view()
        for source, target in pairs:
            rows = view.edge_rows(view.rows([source]), view.rows([target]), EdgeType.SEQ)
            if (rows >= 0).any():
                yield EdgeKey(source, target, EdgeType.SEQ)

    def _drafts(self, document: Document) -> list[Draft]:
        length = sum(len(passage.text) for passage in document.passages)
        if length > self._config.indexing.max_document_chars:
            raise InputError(
                f"a document has {length} characters, more than the {self._config.indexing.max_document_chars} of "
                "indexing.max_document_chars; split it or raise the setting"
            )
        drafts: list[Draft] = []
        lifetime = self._lifetime(document)
        # This hashes the whole text, so it runs once. Turns of a session and texts with an id belong to no document.
        document_id = None if document.in_session or document.id is not None else document.document_id
        for passage in document.passages:
            metadata = json_metadata({**document.metadata, **passage.metadata})
            names = self._names(document, passage)
            fields = document.fields_of(passage)
            chunks = [passage.text] if document.statement else self._chunks(document, passage, names)
            words = count_words([passage.text])[0] if document.in_session and len(chunks) > 1 else None
            for place, chunk in enumerate(chunks):
                part = None if words is None else (place, words)
                if document.id is not None:
                    node_id = document.id if not place else f"{document.id}#{place}"
                elif document_id is None:
                    node_id = f"turn-{uuid4().hex}"
                else:
                    # The hash includes the position, so that a repeated chunk gets a node of its own.
                    node_id = compute_mdhash_id(f"{document_id}\n{len(drafts)}\n{chunk}", prefix="chunk-")
                drafts.append(
                    Draft(
                        node_id,
                        chunk,
                        metadata,
                        lifetime,
                        Found((), find_times(chunk), names, document_id, part, document.statement),
                        document.scope,
                        fields,
                        named=document.id is not None,
                    )
                )
        return drafts

    def _chunks(self, document: Document, passage: Passage, names: Sequence[str]) -> list[str]:
        """Return the chunks of a passage, with room for the title and the speaker that are embedded with them."""
        frame = MemoryNode("frame", "", title=document.title, speaker=passage.speaker)
        chunks = self._chunker.split(passage.text, render(frame))
        if len(chunks) == 1 or not names:
            return chunks
        # The found title is embedded with the later chunks.
        return self._chunker.split(passage.text, render(replace(frame, found=Found(names=names))))

    def _names(self, document: Document, passage: Passage) -> Sequence[str]:
        """Return the title and other names that a passage gives its subject. Turns have no title."""
        if document.statement is not None:
            return (document.statement.subject,)
        told = document.title is not None or passage.speaker is not None or document.in_session
        return () if told or not self._config.indexing.find_titles else find_names(passage.text)

    def _lifetime(self, document: Document) -> dict[str, datetime | None]:
        times = {"valid_from": document.valid_from, "valid_to": document.valid_to}
        given: dict[str, datetime | None] = {name: to_utc(time) for name, time in times.items() if time is not None}
        return (
            given if (ttl := checked_ttl(document.ttl)) is None else {**given, "expires_at": expiry(self._clock(), ttl)}
        )


def stored(store: GraphStorePort, node_ids: Iterable[str]) -> dict[str, MemoryNode]:
    """Return the existing nodes by id."""
    return {node.id: node for node in store.get_nodes(list(dict.fromkeys(node_ids)), missing_ok=True)}


def _kept(draft: Draft, node: MemoryNode) -> bool:
    """Return whether a stored node keeps its text. Only a draft with the caller's own id can change it."""
    return not draft.named or draft.content == node.content


def _first_id(node_id: str) -> str:
    """Return the id of the first chunk of the named text with the chunk `node_id`."""
    first, _, place = node_id.rpartition("#")
    return first if place.isascii() and place.isdecimal() else node_id


def _as_stored(draft: Draft, node: MemoryNode) -> Draft:
    """Return the draft with the text of the stored node."""
    return replace(draft, content=node.content, metadata=node.metadata, found=node.found)


def _moved(draft: Draft | None, node: MemoryNode, position: int) -> Draft:
    """Return a draft of a stored turn with a new position, based on `draft` if it is not None."""
    known = Draft(node.id, node.content, {}, {}, NOTHING_FOUND, node.scope, {}) if draft is None else draft
    return replace(known, fields={**known.fields, "position": position})


def _refuse_other_users(drafts: Iterable[Draft], old: Mapping[str, MemoryNode]) -> None:
    for draft in drafts:
        node = old.get(draft.id)
        if node is not None and node.scope.user_id != draft.scope.user_id:
            raise InputError(f"a memory of another user has the id {draft.id!r}; choose another id")
