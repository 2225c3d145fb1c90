"""The way of a page: out of the short-term memory into a segment, and from a hot segment into the long-term memory."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from neurogated.core.claims import ClaimJudge
from neurogated.core.clock import Clock
from neurogated.dialogue.analysts import Analyst
from neurogated.dialogue.long_term import Dimension, learned_records, profile_of
from neurogated.dialogue.mid_term import Segment, Topics, dormant
from neurogated.dialogue.model import (
    PAGE,
    PROFILE,
    SEGMENT,
    TRAIT,
    VISITS,
    DialogueSettings,
    Embed,
    Pages,
    Record,
    Records,
)
from neurogated.dialogue.short_term import Place, Timeline
from neurogated.errors import LLMError
from neurogated.utils.background import BackgroundWorker, Job, Stopped

_log = logging.getLogger(__name__)

_TOGETHER = 16
"""Pages that are described or learned from in one batch."""
_USERS = 256
"""Users whose segments are held in memory."""


class Conversation:
    """The segments of one user, read from the records and from the places of the pages."""

    def __init__(self, user_id: str, pages: Pages, records: Records) -> None:
        self.user_id = user_id
        self.timeline = Timeline(user_id, pages)
        self.lock = threading.RLock()
        placed, visits = records.all(user_id, PAGE), records.all(user_id, VISITS)
        # Read last, so that it has every segment that the others name.
        self.segments = {key: Segment.of(key, one) for key, one in records.all(user_id, SEGMENT).items()}
        self.segment_of: dict[str, str] = {}
        self.waiting: dict[str, Place] = {}
        """The pages that are in no segment."""
        self.touched = set(self.segments)
        """The segments that may have become hot."""
        self.unwritten: set[str] = set()
        """The segments whose visits are not stored."""
        for key, record in placed.items():
            self.place(key, record)
        self.topics = Topics(self.segments.values())
        for record in visits.values():
            self.segments[record["segment"]].visits[record["instance"]] = record["count"]
        self.asleep: frozenset[str] = frozenset()
        """The segments that are dormant."""

    def place(self, key: str, record: Record) -> None:
        """Take in that a page is in a segment, as its record says."""
        segment = self.segments[record["segment"]]
        segment.place(key, record["keywords"], is_learned=record["learned"])
        self.segment_of[key] = segment.id
        self.waiting.pop(key, None)

    def read(self) -> None:
        """Take in new pages."""
        for place in self.timeline.read():
            if place.key not in self.segment_of:
                self.waiting[place.key] = place

    def visit(self, ids: Collection[str], instance: str, now: float) -> None:
        """Count a search that found these segments; nothing is written."""
        with self.lock:
            for segment in (self.segments[name] for name in ids):
                segment.visits[instance] = segment.visits.get(instance, 0) + 1
                segment.last = max(segment.last, now)
            self.touched.update(ids)
            self.unwritten.update(ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the updater works with."""

    pages: Pages
    records: Records
    analyst: Analyst
    embed: Embed
    judge: ClaimJudge
    settings: DialogueSettings
    allowed: Mapping[str, Dimension]
    """The dimensions of the profiles."""
    clock: Clock
    instance: str
    """Names this instance of the memory among all that share its store."""
    threads: Executor
    """Runs the calls of the analyst."""


class Updater:
    """Places pages, and learns from hot segments. Every step is one batch of records, and doing it twice is once."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._conversations: OrderedDict[str, Conversation] = OrderedDict()
        self._lock, self._working = threading.Lock(), threading.Lock()

    def conversation(self, user_id: str) -> Conversation:
        """Return what is known of a user's pages and segments."""
        with self._lock:
            if user_id not in self._conversations:
                self._conversations[user_id] = Conversation(user_id, self._parts.pages, self._parts.records)
            self._conversations.move_to_end(user_id)
            if len(self._conversations) > _USERS:
                self._write_visits(self._conversations.popitem(last=False)[1])
            return self._conversations[user_id]

    def knows(self, user_id: str) -> bool:
        """Return whether the records of a user were read."""
        return user_id in self._conversations

    def run(self, user_id: str, stop: Callable[[], bool]) -> None:
        """Do all work on a user's pages that is due.

        Raises:
            Stopped: `stop` returned true; the rest is still due.
        """
        with self._working:
            self._run(user_id, stop)

    def forget(self, user_id: str) -> None:
        """Delete all records and pages of a user, after the work that is under way."""
        with self._working:
            self._parts.pages.erase(user_id)
            self._parts.records.erase(user_id)
            self._drop(user_id)

    def _run(self, user_id: str, stop: Callable[[], bool]) -> None:
        conversation = self.conversation(user_id)
        known = next(iter(conversation.segments), None)
        if known is not None and not self._parts.records.get(user_id, SEGMENT, [known]):
            # The user was erased in the store.
            self._drop(user_id)
            conversation = self.conversation(user_id)
        try:
            conversation.read()
            while batch := self._due(conversation):
                self._place(conversation, batch)
                _go_on(stop)
            self._learn(conversation, stop)
            self._write_visits(conversation)
            with conversation.lock:
                conversation.asleep = dormant(
                    conversation.segments.values(), self._parts.clock().timestamp(), self._parts.settings
                )
        except LLMError:
            with conversation.lock:
                conversation.touched.update(conversation.segments)
            raise
        except BaseException:
            # Memory and records may differ now; the records are read again.
            self._drop(user_id)
            raise

    def _drop(self, user_id: str) -> None:
        with self._lock:
            self._conversations.pop(user_id, None)

    def _due(self, conversation: Conversation) -> list[Place]:
        """Return the first pages that have left the short-term memory and are in no segment."""
        kept = conversation.timeline.newest(self._parts.settings.short_term_max_capacity)
        return [one for one in sorted(conversation.waiting.values()) if kept and one < kept[0]][:_TOGETHER]

    def _place(self, conversation: Conversation, batch: Sequence[Place]) -> None:
        """Put pages into segments."""
        parts, user_id = self._parts, conversation.user_id
        done = parts.records.get(user_id, PAGE, [place.key for place in batch])
        if not {record["segment"] for record in done.values()} <= conversation.segments.keys():
            for key, record in parts.records.all(user_id, SEGMENT).items():
                conversation.topics.update(conversation.segments.setdefault(key, Segment.of(key, record)))
        for key, record in done.items():
            conversation.place(key, record)
        rest = [place for place in batch if place.key not in done]
        before = {place.key: conversation.timeline.previous(place) for place in rest}
        pages = parts.pages.get(user_id, {one.key for one in (*rest, *before.values()) if one})
        vectors = dict(zip(pages, parts.embed([page.text for page in pages.values()]), strict=True)) if pages else {}

        def described(place: Place) -> tuple[Place, Record]:
            previous = before[place.key]
            last = pages.get(previous.key) if previous else None
            cosine = float(vectors[place.key] @ vectors[last.key]) if last else 0.0
            found = parts.analyst.describe(pages[place.key], last, cosine)
            chain = last.key if last and found.continues else None
            return place, {**found._asdict(), "previous": chain, "keywords": list(found.keywords), "learned": False}

        writes: dict[tuple[str, str], Record | None] = {}
        results = list(parts.threads.map(described, [place for place in rest if place.key in pages]))
        now = parts.clock().timestamp()
        with conversation.lock:
            for place, record in results:
                vector, words = vectors[place.key], record["keywords"]
                name = (
                    conversation.topics.nearest(vector, words, parts.settings.topic_similarity_threshold) or place.key
                )
                segment = conversation.segments.setdefault(name, Segment(name, np.zeros_like(vector)))
                segment.add(place.key, vector, words, record["summary"], now)
                conversation.topics.update(segment)
                record["segment"] = segment.id
                conversation.place(place.key, record)
                conversation.touched.add(segment.id)
                writes[PAGE, place.key] = record
                writes[SEGMENT, segment.id] = segment.record()
            for place in rest:
                conversation.waiting.pop(place.key, None)
        parts.records.put(user_id, writes)

    def _learn(self, conversation: Conversation, stop: Callable[[], bool]) -> None:
        """Learn from the pages of hot segments, and cool them."""
        parts, now = self._parts, self._parts.clock().timestamp()
        with conversation.lock:
            touched, conversation.touched = conversation.touched, set()
            chosen = [conversation.segments[name] for name in sorted(touched)]
        hot = [one for one in chosen if one.heat(now, parts.settings) >= parts.settings.mid_term_heat_threshold]
        for segment in hot:
            keys = segment.new_pages
            for begin in range(0, len(keys), _TOGETHER):
                self._learn_from(conversation, segment, keys[begin : begin + _TOGETHER])
                _go_on(stop)
            with conversation.lock:
                segment.settled = segment.visited
            parts.records.put(conversation.user_id, {(SEGMENT, segment.id): segment.record()})

    def _learn_from(self, conversation: Conversation, segment: Segment, keys: Sequence[str]) -> None:
        parts, user_id = self._parts, conversation.user_id
        pages = sorted(parts.pages.get(user_id, keys).values(), key=lambda page: page.order)
        traits = parts.threads.submit(parts.analyst.traits, pages, parts.allowed)
        known = parts.analyst.knowledge(pages)
        writes: dict[tuple[str, str], Record | None] = {}
        for kind, learned in known.items():
            changed = learned_records(parts.records.all(user_id, kind) if learned else {}, learned, parts.judge)
            writes.update({(kind, key): record for key, record in changed.items()})
        found = {one.key: one.record() for one in traits.result()}
        writes.update({(TRAIT, key): record for key, record in found.items()})
        placed = parts.records.get(user_id, PAGE, keys)
        writes.update({(PAGE, key): {**record, "learned": True} for key, record in placed.items()})
        if found:
            everything = {**parts.records.all(user_id, TRAIT), **found}
            writes[PROFILE, PROFILE] = profile_of(everything, parts.allowed)
        parts.records.put(user_id, writes)
        with conversation.lock:
            segment.pages.update(dict.fromkeys(keys, True))

    def _write_visits(self, conversation: Conversation) -> None:
        instance = self._parts.instance
        with conversation.lock:
            names, conversation.unwritten = conversation.unwritten, set()
            counts = {name: conversation.segments[name].visits[instance] for name in names}
        self._parts.records.put(
            conversation.user_id,
            {
                (VISITS, f"{name}-{instance}"): {"segment": name, "instance": instance, "count": count}
                for name, count in counts.items()
            },
        )


def _go_on(stop: Callable[[], bool]) -> None:
    if stop():
        raise Stopped


class _Due(NamedTuple):
    """The work on a user, and how often it was asked for."""

    user_id: str
    times: int


class Backlog:
    """Does the work on the users in the background, one after the other. Work that fails waits for the next save."""

    def __init__(self, run: Callable[[str, Callable[[], bool]], None]) -> None:
        self._run = run
        self._due: dict[str, int] = {}
        self._lock = threading.Lock()
        self._errors: dict[str, BaseException] = {}
        # The driver of a store has errors of its own, which `flush` raises.
        self._worker = BackgroundWorker(self, failures=(Exception,))

    def add(self, user_id: str) -> None:
        """Note that there may be work on a user."""
        with self._lock:
            self._due[user_id] = self._due.get(user_id, 0) + 1
        self._worker.wake()

    def flush(self) -> None:
        """Wait until all work is done; raises the error that stopped some of it."""
        self._worker.wait()
        errors, self._errors = self._errors, {}
        for error in errors.values():
            raise error

    def stop(self) -> None:
        """Stop the current work after its step, and accept no more."""
        self._worker.stop()

    def next_job(self) -> Job | None:
        """Return the next job."""
        with self._lock:
            due = next(iter(self._due.items()), None)
        return None if due is None else partial(_done, self._run, _Due(*due))

    def finish_job(self, result: _Due) -> None:
        """Note that all work on a user is done, unless there is more since."""
        with self._lock:
            self._errors.pop(result.user_id, None)
            if self._due.get(result.user_id) == result.times:
                del self._due[result.user_id]

    def fail_job(self, error: BaseException) -> None:
        """Leave the work until it is asked for again."""
        _log.warning("the pages of a conversation wait for the next save: %s", error)
        with self._lock:
            user_id = next(iter(self._due))
            del self._due[user_id]
            self._errors[user_id] = error


def _done(run: Callable[[str, Callable[[], bool]], None], due: _Due, stop: Callable[[], bool]) -> _Due:
    run(due.user_id, stop)
    return due
