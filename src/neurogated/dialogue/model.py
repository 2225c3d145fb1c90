"""The values of a conversation memory, its settings, and the protocol of what stores it."""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from neurogated.core.habits import refuse_unknown
from neurogated.errors import ConfigError
from neurogated.text.strings import composed

Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]
"""Returns (n, dimension) unit vectors of n texts."""
Record = dict[str, Any]
"""A JSON object."""

PAGE, SEGMENT, VISITS, TRAIT = "page", "segment", "visits", "trait"
USER_KNOWLEDGE, ASSISTANT_KNOWLEDGE = "user_knowledge", "assistant_knowledge"
KNOWLEDGE = (USER_KNOWLEDGE, ASSISTANT_KNOWLEDGE)
KINDS = (VISITS, SEGMENT, PAGE, TRAIT, *KNOWLEDGE)
"""Kinds of records in the order to read them: the records that one names are stored with it or before it."""
BY_USER = "user"
"""The origin of a trait that the user has set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueSettings:
    """Settings under the names of MemoryOS. The defaults are those of its code."""

    short_term_max_capacity: int = 10
    """Pairs in the short-term memory, from 1."""
    mid_term_max_capacity: int = 2000
    """Segments that are awake, from 1; the others are dormant."""
    topic_similarity_threshold: float = 0.6
    """Cosine plus Jaccard index from which a page joins a segment, 0–2."""
    mid_term_heat_threshold: float = 5.0
    """Heat from which a segment is consolidated and cannot become dormant, ≥ 0."""
    knowledge_capacity: int = 100
    """Entries that each kind of knowledge shows, from 1; searches find all."""
    retrieval_page_topk: int = 7
    """Results of each tier, from 1."""
    alpha: float = 1.0
    """Weight of the visits in the heat, ≥ 0."""
    beta: float = 1.0
    """Weight of the pages in the heat, ≥ 0."""
    gamma: float = 1.0
    """Weight of the recency in the heat, ≥ 0."""
    tau: float = 86_400.0
    """Seconds in which the recency falls to 1/e, above 0."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            is_count = isinstance(one.default, int)
            if isinstance(value, bool) or not isinstance(value, int if is_count else int | float):
                raise ConfigError(f"{one.name} is {value!r}, but must be a number{' of things' if is_count else ''}")
            if not (1 if is_count else 0) <= value < float("inf") or (one.name == "tau" and not value):
                raise ConfigError(
                    f"{one.name} is {value!r}, which is too small or infinite; the default is {one.default}"
                )


PRESETS: Mapping[str, DialogueSettings] = {
    "code": DialogueSettings(),
    "paper": DialogueSettings(short_term_max_capacity=7, mid_term_max_capacity=200, retrieval_page_topk=5, tau=1e7),
}
"""The constants of MemoryOS's code, and of its paper (arXiv 2506.06326)."""


def settings_of(preset: str, given: Mapping[str, float]) -> DialogueSettings:
    """Return the settings of a preset with some replaced; raises ConfigError for an unknown name or a bad value."""
    if preset not in PRESETS:
        raise ConfigError(f"unknown preset {preset!r}; known are {', '.join(PRESETS)}")
    known: dict[str, Any] = asdict(PRESETS[preset])
    refuse_unknown(given, known, "setting", ConfigError)
    return DialogueSettings(**{**known, **given})


@dataclass(frozen=True, slots=True)
class DialoguePage:
    """What a user and an assistant said, one after the other."""

    key: str
    """Names it among the pages of its user."""
    order: str
    """Sorts the pages of a user by arrival."""
    session_id: str
    user: str
    """Empty if only the assistant spoke."""
    assistant: str
    """Empty if only the user spoke."""
    said: datetime

    @property
    def text(self) -> str:
        """What both said, on separate lines."""
        return "\n".join(filter(None, (self.user, self.assistant)))


def pages_of(kind: str, key: str, record: Record) -> list[str]:
    """Return the keys of the pages whose words a record repeats; it is deleted with any of them."""
    if kind == PAGE:
        found = [key, *filter(None, [record["previous"]])]
    elif kind == TRAIT:
        found = [record["page"]]
    else:
        found = record["evidence"][:1] if kind in KNOWLEDGE else []
    return list(dict.fromkeys(page for page in found if page != BY_USER))


Changes = Mapping[tuple[str, str], Record | None]
"""Records by kind and key; None for one to delete."""


class News(NamedTuple):
    """What happened to the pages of a user."""

    pages: Sequence[DialoguePage]
    """New pages, perhaps with some that were known."""
    mark: Any
    """Where the next call begins."""
    is_rewritten: bool = False
    """Whether known pages, or records that repeat them, were deleted, as far as the store can tell."""


class FoundRecord(NamedTuple):
    """A record that a search found."""

    kind: str
    key: str
    value: Record
    score: float


class DialogueStore(Protocol):
    """Stores the pages of users, each written once as a whole, and their records by kind and key."""

    def add(self, user_id: str, page: DialoguePage) -> None:
        """Store a page; when it returns, the page is durable and searches find it. One with its key stays as it is."""

    def after(self, user_id: str, mark: Any, known: Collection[str]) -> News:  # noqa: ANN401 - each store has its own
        """Return what happened after a mark, given the keys of the known pages; from the beginning if it is None."""

    def pages(self, user_id: str, keys: Collection[str]) -> dict[str, DialoguePage]:
        """Return the pages with these keys that exist."""

    def find_pages(self, user_id: str, query: str, limit: int, session_id: str | None) -> list[tuple[str, float]]:
        """Return the keys and scores of the pages that a query recalls, best first."""

    def put(self, user_id: str, values: Changes, read: Mapping[str, DialoguePage] | None = None) -> None:
        """Store records; in a graph all in one change, and deleting a page deletes those that repeat its words.

        `read` has the pages that were read for the records, by key. A graph leaves out records of pages that changed.
        """

    def get(self, user_id: str, kind: str, keys: Collection[str]) -> dict[str, Record]:
        """Return the records of a kind with these keys that exist."""

    def all(self, user_id: str, kind: str) -> dict[str, Record]:
        """Return the records of a kind by key."""

    def find_knowledge(self, user_id: str, query: str, limit: int) -> list[FoundRecord]:
        """Return the knowledge whose `text` is nearest to a query, best first."""

    def erase(self, user_id: str, keys: Collection[str] | None = None) -> None:
        """Delete the pages of a user with these keys; without keys all pages and records."""


_LONGEST = 100


def escaped(name: str) -> str:
    """Return a name as a label without dots, which is also the name of a file; different names stay different.

    Names that are long, or that differ from others by upper case only, end with a hash.
    """
    name = composed(name)
    written = quote(name, safe=" ").replace(".", "%2E").replace("~", "%7E")
    if len(written) <= _LONGEST and name == name.lower():
        return written
    return f"{written[:_LONGEST].lower()}~{hashlib.sha256(name.encode()).hexdigest()[:32]}"
