"""The way of a page: out of the short-term memory into a segment, and from a hot segment into the long-term memory."""

import logging
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

import numpy as np

from neurogated.core.clock import Clock
from neurogated.dialogue.analysts import Analyst
from neurogated.dialogue.long_term import ProfileDimension, leftovers, lessons_of, profile_of
from neurogated.dialogue.mid_term import Place, Segment, Timeline, Topics, decoded, dormant, encoded
from neurogated.dialogue.model import (
    KINDS,
    PAGE,
    SEGMENT,
    TRAIT,
    VISITS,
    DialogueSettings,
    DialogueStore,
    Embed,
    Record,
)
from neurogated.errors import LLMError
from neurogated.utils.background import BackgroundWorker, Job, Stopped

_log = logging.getLogger(__name__)

_TOGETHER = 16
"""Pages that are described or learned from in one batch."""
_USERS = 256
"""Users whose segments are held in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueParts:
    """What the updater works with."""

    kept: DialogueStore
    analyst: Analyst
    embed: Embed
    settings: DialogueSettings
    allowed: Mapping[str, ProfileDimension]
    """The dimensions of the profiles."""
    clock: Clock
    instance: str
    """Names this instance of the memory among all that share its store."""
    threads: Executor
    """Runs the calls of the analyst."""

    def profile(self, user_id: str) -> Record:
        """Return the profile of a user."""
        return profile_of(self.kept.all(user_id, TRAIT), self.allowed)


class DialoguePages:
    """The segments of one user, read from the records and from the places of the pages."""

    def __init__(self, user_id: str, parts: DialogueParts) -> None:
        self.user_id = user_id
        self.timeline = Timeline(user_id, parts.kept)
        self.lock = threading.RLock()
        known = {kind: parts.kept.all(user_id, kind) for kind in KINDS}
        # Read last, so that pages that are not among them are gone.
        places = self.timeline.read() or ()
        pages = self.timeline.keys()
        if changes := leftovers(known, pages):
            parts.kept.put(user_id, changes)
        self.segments: dict[str, Segment] = {}
        self.segment_of: dict[str, str] = {}
        for key, record in sorted(known[PAGE].items(), key=lambda one: (one[1]["at"], one[0])):
            self.place(key, record)
            if not pages.issuperset(record["learned"] or ()):
                segment = self.segments[record["segment"]]
                segment.pages[key], segment.has_gaps = False, True
        self.waiting = {place.key: place for place in places if place.key not in self.segment_of}
        """The pages that are in no segment."""
        self.touched = set(self.segments)
        """The segments that may have become hot."""
        self.unwritten: set[str] = set()
        """The segments whose visits are not stored."""
        for record in known[VISITS].values():
            segment = self.segments[record["segment"]]
            segment.visits[record["instance"]] = record["count"]
            segment.last = max(segment.last, record["last"])
        for key, record in known[SEGMENT].items():
            self.segments[key].settled = record["settled"]
        self.topics = Topics(self.segments.values())
        self.asleep: frozenset[str] = frozenset()
        """The segments that are dormant."""
        self.is_new = True
        """Whether no work on it was done yet."""

    def place(self, key: str, record: Record) -> Segment:
        """Take in that a page is in a segment, as its record says; return the segment."""
        name, vector = record["segment"], decoded(record["vector"])
        segment = self.segments.setdefault(name, Segment(name, np.zeros_like(vector)))
        segment.add(key, vector, record["keywords"], record["summary"], record["at"])
        segment.pages[key] = record["learned"] is not None
        self.segment_of[key] = name
        return segment

    def read(self) -> bool:
        """Take in new pages; return False if known ones were deleted, so that all must be read again."""
        places = self.timeline.read()
        self.waiting.update((place.key, place) for place in places or () if place.key not in self.segment_of)
        return places is not None

    def visit(self, ids: Collection[str], instance: str, now: float) -> None:
        """Count a search that found these segments; nothing is written."""
        with self.lock:
            for segment in (self.segments[name] for name in ids):
                segment.visits[instance] = segment.visits.get(instance, 0) + 1
                segment.last = max(segment.last, now)
            self.touched.update(ids)
            self.unwritten.update(ids)


class Updater:
    """Places pages, and learns from hot segments. Every step is one batch of records, and doing it twice is once."""

    def __init__(self, parts: DialogueParts) -> None:
        self._parts = parts
        self._conversations: OrderedDict[str, DialoguePages] = OrderedDict()
        self._lock, self._working = threading.Lock(), threading.Lock()

    def conversation(self, user_id: str) -> DialoguePages:
        """Return what is known of a user's pages and segments by now."""
        found = self._opened(user_id)
        if found.read():
            return found
        self._drop(user_id, found)
        return self._opened(user_id)

    def run(self, user_id: str, stop: Callable[[], bool]) -> None:
        """Do all work on a user's pages that is due.

        Raises:
            Stopped: `stop` returned true; the rest is still due.
        """
        with self._working:
            conversation = self.conversation(user_id)
            try:
                while batch := self._due(conversation):
                    self._place(conversation, batch)
                    _go_on(stop)
                parts, now = self._parts, self._parts.clock().timestamp()
                with conversation.lock:
                    touched, conversation.touched = conversation.touched, set()
                    chosen = [conversation.segments[name] for name in sorted(touched)]
                least = parts.settings.mid_term_heat_threshold
                hot = [one for one in chosen if one.has_gaps or one.heat(now, parts.settings) >= least]
                for segment in hot:
                    keys = segment.new_pages
                    for begin in range(0, len(keys), _TOGETHER):
                        self._learn_from(conversation, segment, keys[begin : begin + _TOGETHER])
                        _go_on(stop)
                    with conversation.lock:
                        segment.settled, segment.has_gaps = segment.visited, False
                    parts.kept.put(conversation.user_id, {(SEGMENT, segment.id): {"settled": segment.settled}})
                self._write_visits(conversation)
                with conversation.lock:
                    conversation.asleep = dormant(
                        conversation.segments.values(), self._parts.clock().timestamp(), self._parts.settings
                    )
                conversation.is_new = False
            except LLMError:
                with conversation.lock:
                    conversation.touched.update(conversation.segments)
                raise
            except BaseException:
                # Memory and records may differ now; the records are read again.
                self._drop(user_id)
                raise

    def erase(self, user_id: str, keys: Collection[str] | None = None) -> None:
        """Delete pages of a user, or all, and what was derived from them, after the work that is under way."""
        with self._working:
            self._parts.kept.erase(user_id, keys)
            self._drop(user_id)
            self._opened(user_id)

    def _opened(self, user_id: str) -> DialoguePages:
        with self._lock:
            if user_id not in self._conversations:
                self._conversations[user_id] = DialoguePages(user_id, self._parts)
            self._conversations.move_to_end(user_id)
            if len(self._conversations) > _USERS:
                self._write_visits(self._conversations.popitem(last=False)[1])
            return self._conversations[user_id]

    def _drop(self, user_id: str, only: DialoguePages | None = None) -> None:
        with self._lock:
            if only in {None, self._conversations.get(user_id)}:
                self._conversations.pop(user_id, None)

    def _due(self, conversation: DialoguePages) -> list[Place]:
        """Return the first pages that have left the short-term memory and are in no segment."""
        kept = conversation.timeline.newest(self._parts.settings.short_term_max_capacity)
        return [one for one in sorted(conversation.waiting.values()) if kept and one < kept[0]][:_TOGETHER]

    def _place(self, conversation: DialoguePages, batch: Sequence[Place]) -> None:
        parts, user_id = self._parts, conversation.user_id
        done = parts.kept.get(user_id, PAGE, [place.key for place in batch])
        rest = [place for place in batch if place.key not in done]
        before = {place.key: conversation.timeline.previous(place) for place in rest}
        pages = parts.kept.pages(user_id, {one.key for one in (*rest, *before.values()) if one})
        vectors = dict(zip(pages, parts.embed([page.text for page in pages.values()]), strict=True)) if pages else {}

        def described(place: Place) -> tuple[Place, Record]:
            previous = before[place.key]
            last = pages.get(previous.key) if previous else None
            cosine = float(vectors[place.key] @ vectors[last.key]) if last else 0.0
            found = parts.analyst.describe(pages[place.key], last, cosine)
            chain = last.key if last and found.continues else None
            return place, {**found._asdict(), "previous": chain, "keywords": list(found.keywords), "learned": None}

        results = list(parts.threads.map(described, [place for place in rest if place.key in pages]))
        now = parts.clock().timestamp()
        with conversation.lock:
            for place in batch:
                conversation.waiting.pop(place.key, None)
            for key, record in done.items():
                conversation.topics.update(conversation.place(key, record))
            for place, record in results:
                vector = vectors[place.key]
                name = conversation.topics.nearest(
                    vector, record["keywords"], parts.settings.topic_similarity_threshold
                )
                record.update({"segment": name or place.key, "vector": encoded(vector), "at": now})
                segment = conversation.place(place.key, record)
                conversation.topics.update(segment)
                conversation.touched.add(segment.id)
        parts.kept.put(user_id, {(PAGE, place.key): record for place, record in results}, pages)

    def _learn_from(self, conversation: DialoguePages, segment: Segment, keys: Sequence[str]) -> None:
        parts, user_id = self._parts, conversation.user_id
        read = parts.kept.pages(user_id, keys)
        pages = sorted(read.values(), key=lambda page: page.order)
        traits = parts.threads.submit(parts.analyst.traits, pages, parts.allowed)
        known = parts.analyst.knowledge(pages)
        writes: dict[tuple[str, str], Record | None] = {}
        repeated = defaultdict[str, set[str]](set)
        for kind, learned in known.items():
            changed, repeats = lessons_of(parts.kept.all(user_id, kind) if learned else {}, learned)
            writes.update({(kind, key): record for key, record in changed.items()})
            for key, others in repeats.items():
                repeated[key] |= others
        writes.update({(TRAIT, one.key): one.record() for one in traits.result()})
        placed = parts.kept.get(user_id, PAGE, keys)
        writes.update({(PAGE, key): {**one, "learned": sorted(repeated[key])} for key, one in placed.items()})
        parts.kept.put(user_id, writes, read)
        with conversation.lock:
            segment.pages.update(dict.fromkeys(keys, True))

    def _write_visits(self, conversation: DialoguePages) -> None:
        instance = self._parts.instance
        with conversation.lock:
            names, conversation.unwritten = conversation.unwritten, set()
            visited = [conversation.segments[name] for name in names]
            visits = [(one.id, {"count": one.visits[instance], "last": one.last}) for one in visited]
        self._parts.kept.put(
            conversation.user_id,
            {
                (VISITS, f"{name}-{instance}"): {"segment": name, "instance": instance, **counted}
                for name, counted in visits
            },
        )


def _go_on(stop: Callable[[], bool]) -> None:
    if stop():
        raise Stopped


class PageBacklog:
    """Does the work on the users in the background, one after the other. Work that fails waits for the next save."""

    def __init__(self, run: Callable[[str, Callable[[], bool]], None]) -> None:
        self._run = run
        self._due: dict[str, int] = {}
        self._next = ("", 0)
        """The user on whom there is work, and how often it was asked for."""
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
            if not self._due:
                return None
            self._next = next(iter(self._due.items()))
        return partial(self._run, self._next[0])

    def finish_job(self, result: None) -> None:  # noqa: ARG002 - as in the protocol
        """Note that all work on a user is done, unless there is more since."""
        with self._lock:
            self._errors.pop(self._next[0], None)
            self._end()

    def fail_job(self, error: BaseException) -> None:
        """Leave the work until it is asked for again, perhaps since it began."""
        _log.warning("the pages of a conversation wait for the next save: %s", error)
        with self._lock:
            self._errors[self._next[0]] = error
            self._end()

    def _end(self) -> None:
        user_id, times = self._next
        if self._due.get(user_id) == times:
            del self._due[user_id]
