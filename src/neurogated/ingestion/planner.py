"""Which chunks of some documents are to be written, and what they stand beside, as the store is now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from neurogated.ingestion.drafts import Batch, Draft, Part
from neurogated.ingestion.labels import labelled_speaker
from neurogated.ingestion.revision import expiry
from neurogated.ingestion.sessions import Session
from neurogated.ingestion.titles import find_names
from neurogated.utils.hash_utils import compute_mdhash_id

__all__ = ["Planner", "stored"]


class Planner:
    """Reads documents, and compares them with what is stored; it writes nothing."""

    def __init__(self, store: GraphStorePort, chunker: Chunker, config: MemoryConfig, clock: Clock) -> None:
        self._store = store
        self._chunker = chunker
        self._config = config
        self._clock = clock
        self._reach = max(1, config.CAUSE_WINDOW)

    def parts(self, document: Document) -> Iterator[Part]:
        """Yield a document in parts of at most `INDEX_BATCH` chunks.

        Raises:
            InputError: it is longer than `MAX_DOCUMENT_CHARS`.
        """
        drafts = self._drafts(document)
        size = self._config.INDEX_BATCH
        for begin in range(0, len(drafts), size):
            yield Part(drafts, begin, min(begin + size, len(drafts)))

    def plan(self, parts: Sequence[Part]) -> Batch:
        """Return the batch of some parts as the store is now."""
        sequence = self._store.view().sequence
        old = stored(self._store, chain.from_iterable(part.with_neighbours(self._reach) for part in parts))
        drafts: dict[str, Draft] = {}
        for draft in chain.from_iterable(part.drafts for part in parts):
            drafts[draft.id] = draft.merged_over(drafts.get(draft.id))
        sessions = self._sessions(parts, drafts, old)
        chains: list[Sequence[str]] = [part.with_neighbours(self._reach) for part in parts if part.session is None]
        parted: list[EdgeKey] = []
        for session in sessions:
            chains.append([turn.id for turn in session.turns])
            old |= session.stored
            parted += self._parted(session)
            drafts |= {
                name: _moved(drafts.get(name), session.stored[name], position) for name, position in session.moved()
            }
        _refuse_other_users(drafts.values(), old)
        return Batch(
            parts,
            old,
            [
                one
                for one in drafts.values()
                if one.id not in old or (_kept(one, old[one.id]) and one.changes(old[one.id]))
            ],
            [one for one in drafts.values() if one.id in old and not _kept(one, old[one.id])],
            chains,
            parted,
            sequence,
        )

    def _sessions(
        self, parts: Sequence[Part], drafts: dict[str, Draft], old: Mapping[str, MemoryNode]
    ) -> Iterable[Session]:
        """Return the sessions of the new turns, with these in their places; their drafts learn their positions."""
        sessions: dict[tuple[str | None, str], Session] = {}
        placed: set[str] = set()
        for part in parts:
            if part.session is None:
                continue
            if part.session not in sessions:
                sessions[part.session] = Session.read(self._store, *part.session, self._reach)
            for draft, previous in part.with_previous():
                if draft.id not in old and draft.id not in placed:
                    placed.add(draft.id)
                    # A longer version of a stored turn goes on where the turn stands.
                    continued = previous.id if previous is not None and draft.named else None
                    sessions[part.session].add(draft.id, draft.fields.get("timestamp"), continued)
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
        """Return who says a new turn, given who says the turn before; an empty text for the first of a session.

        A name before a colon counts if the turn before has a speaker too; a later piece of a message has that of the
        first.
        """
        given: str | None = draft.fields.get("speaker")
        if given is not None or before is None or not self._config.FIND_SPEAKERS:
            return given
        return labelled_speaker(draft.content) if (draft.found.part or (0, 0))[0] == 0 else before or None

    def _parted(self, session: Session) -> Iterator[EdgeKey]:
        """Yield the SEQ edges between stored turns that a new one has come between."""
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
        if length > self._config.MAX_DOCUMENT_CHARS:
            raise InputError(
                f"a document has {length} characters, more than the {self._config.MAX_DOCUMENT_CHARS} of "
                "MAX_DOCUMENT_CHARS; split it or raise the setting"
            )
        drafts: list[Draft] = []
        lifetime = self._lifetime(document)
        # A hash of the whole text, so it is computed once; a turn of a session, or what has a name, is of no document.
        document_id = None if document.in_session or document.id is not None else document.document_id
        for passage in document.passages:
            metadata = json_metadata({**document.metadata, **passage.metadata})
            names = self._names(document, passage)
            fields = document.fields_of(passage)
            chunks = self._chunks(document, passage, names)
            words = count_words([passage.text])[0] if document.in_session and len(chunks) > 1 else None
            for place, chunk in enumerate(chunks):
                if document.id is not None:
                    node_id = document.id if not place else f"{document.id}#{place}"
                elif document_id is None:
                    node_id = f"turn-{uuid4().hex}"
                else:
                    # The position takes part, so that a sentence said twice is remembered twice.
                    node_id = compute_mdhash_id(f"{document_id}\n{len(drafts)}\n{chunk}", prefix="chunk-")
                drafts.append(
                    Draft(
                        node_id,
                        chunk,
                        metadata,
                        lifetime,
                        Found((), find_times(chunk), names, document_id, None if words is None else (place, words)),
                        document.scope,
                        fields,
                        named=document.id is not None,
                    )
                )
        return drafts

    def _chunks(self, document: Document, passage: Passage, names: Sequence[str]) -> list[str]:
        """Return the chunks of a passage, which leave room for what is embedded with them."""
        frame = MemoryNode("frame", "", title=document.title, speaker=passage.speaker)
        chunks = self._chunker.split(passage.text, render(frame))
        if len(chunks) == 1 or not names:
            return chunks
        # The later ones are embedded under the title that was found.
        return self._chunker.split(passage.text, render(replace(frame, found=Found(names=names))))

    def _names(self, document: Document, passage: Passage) -> Sequence[str]:
        """Return the names of what a passage is about that it tells itself; a turn has none."""
        told = document.title is not None or passage.speaker is not None or document.in_session
        return () if told or not self._config.FIND_TITLES else find_names(passage.text)

    def _lifetime(self, document: Document) -> dict[str, datetime | None]:
        times = {"valid_from": document.valid_from, "valid_to": document.valid_to}
        given: dict[str, datetime | None] = {name: to_utc(time) for name, time in times.items() if time is not None}
        return (
            given if (ttl := checked_ttl(document.ttl)) is None else {**given, "expires_at": expiry(self._clock(), ttl)}
        )


def stored(store: GraphStorePort, node_ids: Iterable[str]) -> dict[str, MemoryNode]:
    """Return those of the nodes that exist, by id."""
    return {node.id: node for node in store.get_nodes(list(dict.fromkeys(node_ids)), missing_ok=True)}


def _kept(draft: Draft, node: MemoryNode) -> bool:
    """Return whether a stored node keeps its text: only an id of the caller's own brings another."""
    return not draft.named or draft.content == node.content


def _moved(draft: Draft | None, node: MemoryNode, position: int) -> Draft:
    """Return the draft of a stored turn, if there is one, with another position."""
    known = Draft(node.id, node.content, {}, {}, NOTHING_FOUND, node.scope, {}) if draft is None else draft
    return replace(known, fields={**known.fields, "position": position})


def _refuse_other_users(drafts: Iterable[Draft], old: Mapping[str, MemoryNode]) -> None:
    for draft in drafts:
        node = old.get(draft.id)
        if node is not None and node.scope.user_id != draft.scope.user_id:
            raise InputError(f"the id {draft.id!r} is taken by a memory of another user; choose another id")
