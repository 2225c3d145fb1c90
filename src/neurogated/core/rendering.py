"""What stands for a memory: before the embedder, in the keyword index, and as what it is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import accumulate, chain, filterfalse
from typing import Any, Protocol

from neurogated.core.keywords import fold, split_keywords
from neurogated.core.words import split_words

__all__ = [
    "TIME_MARK",
    "Described",
    "Text",
    "document_mark",
    "is_term_mark",
    "keyword_text",
    "marks",
    "names_carried",
    "opening_mark",
    "render",
    "speaker_mark",
    "subject_mark",
    "subjects",
    "subjects_among",
    "tag_mark",
    "term_mark",
    "terms",
    "word_mark",
]

TIME_MARK = "time"
"""Mark of a memory whose content tells a time."""
_TERM = "term "
_WORD = "word "
_SUBJECT = "subject "
_SPEAKER = "speaker "
_TAG = "tag "
_OPENS = "opens "
_QUALIFIER = re.compile("[(\uff08][^()\uff08\uff09]*[)\uff09]\\s*$")
_COMMA = re.compile("[,，]")
_ONE_WORD = re.compile("[A-Za-z0-9]+")
_LONGEST_SUBJECT = 8


class Text(Protocol):
    """What is read of a memory: a node, or its record in a store."""

    @property
    def content(self) -> str:
        """The text itself."""

    @property
    def title(self) -> str | None:
        """What it is about."""

    @property
    def speaker(self) -> str | None:
        """Who says it."""


class Described(Text, Protocol):
    """A text with what is known of it, as a store indexes it."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """JSON values, `entities`, `times` and `document_id` among them."""

    @property
    def tags(self) -> Sequence[str]:
        """Words of the caller's own."""

    @property
    def timestamp(self) -> datetime | None:
        """When what it tells happened."""


def render(node: Text) -> str:
    """Return the text that stands for a memory before the embedder, a language model or a reader.

    A passage often does not name what it is about; and `Speaker said, "…"` is found far better than `speaker: …`.
    """
    text = f'{node.speaker} said, "{node.content}"' if node.speaker else node.content
    return f"{node.title}\n{text}" if node.title else text


def keyword_text(node: Described) -> str:
    """Return the text that stands for a memory in the keyword index: what is embedded, and its date."""
    moment = node.timestamp
    return f"{moment.day} {moment:%B %Y}\n{render(node)}" if moment else render(node)


def marks(node: Described) -> frozenset[str]:
    """Return the marks of a node, by which it can be found.

    They are what it is about, who speaks, whether it tells a time, its document, its terms, the words it holds, and the
    tags that its owner gave it.
    """
    metadata = node.metadata
    carried = [subject_mark(name) for name in subjects(node.title)]
    carried += [speaker_mark(name) for name in _names(node.speaker)]
    carried += [opening_mark(mark) for mark in carried]
    carried += [TIME_MARK] * bool(metadata.get("times"))
    if isinstance(document_id := metadata.get("document_id"), str):
        carried.append(document_mark(document_id))
    carried += [_TERM + term for term in terms(node)]
    carried += map(tag_mark, node.tags)
    carried += [_WORD + word for word in set(split_words(fold(node.content)))]
    return frozenset(carried)


def terms(node: Described) -> frozenset[str]:
    """Return the terms of a node: keywords of its content and title, and the names of several words found in it."""
    keywords = split_keywords(f"{node.title}\n{node.content}" if node.title else node.content)
    entities = node.metadata.get("entities")
    # Most names are one word, which is quickly seen.
    several = filterfalse(_ONE_WORD.fullmatch, map(str, entities)) if isinstance(entities, list) else ()
    names = [split_words(fold(name)) for name in several]
    return frozenset((*keywords, *(" ".join(words) for words in names if len(words) > 1)))


def subjects(title: str | None) -> tuple[str, ...]:
    """Return the names, in folded words, under which other texts may mention what a text of that title is about.

    They are the title, without a qualifier in brackets, and what stands before the title's first comma; never a name
    that is made of stop words alone.
    """
    if title is None:
        return ()
    bare = _QUALIFIER.sub("", title)
    return tuple(dict.fromkeys(name for text in (title, bare, _COMMA.split(bare)[0]) for name in _names(text)))


def subject_mark(name: str) -> str:
    """Return the mark of nodes that are about `name`, in folded words."""
    return f"{_SUBJECT}{name}"


def speaker_mark(name: str) -> str:
    """Return the mark of what `name`, in folded words, said."""
    return f"{_SPEAKER}{name}"


def term_mark(term: str) -> str:
    """Return the mark of nodes that have `term`; see `terms`."""
    return f"{_TERM}{term}"


def word_mark(word: str) -> str:
    """Return the mark of nodes whose content holds `word`, folded."""
    return f"{_WORD}{word}"


def subjects_among(carried: Iterable[str]) -> frozenset[str]:
    """Return the names of those of the marks of a node that say what it is about."""
    return frozenset(mark.removeprefix(_SUBJECT) for mark in carried if mark.startswith(_SUBJECT))


def tag_mark(tag: str) -> str:
    """Return the mark of nodes that have a tag."""
    return f"{_TAG}{tag}"


def is_term_mark(mark: str) -> bool:
    """Return whether a mark is one of a term."""
    return mark.startswith(_TERM)


def document_mark(document_id: str) -> str:
    """Return the mark of the nodes of a document."""
    return f"document {document_id}"


def opening_mark(mark: str) -> str:
    """Return the mark of nodes that carry the mark of a name whose first word is that of `mark`, one of a name too."""
    kind, word, *_ = mark.split(" ", 2)
    return f"{_OPENS}{kind} {word}"


def names_carried(
    words: Sequence[str], carried: Callable[[Iterable[str]], frozenset[str]], *, speakers: bool = True
) -> frozenset[str]:
    """Return the marks of subjects and speakers that a text names, of those that `carried` says some node carries.

    Every run of words could be a name; only those are asked for whose first word begins one.

    Args:
        words: those of the text, folded.
        carried: returns which of some marks are carried.
        speakers: whether names of speakers count, beside those of subjects.
    """
    kinds = (_SUBJECT, _SPEAKER)[: 1 + speakers]
    distinct = set(words)
    begun = carried([_OPENS + kind + word for kind in kinds for word in distinct])
    if not begun:
        return frozenset()
    runs = (
        accumulate(words[begin + 1 : begin + _LONGEST_SUBJECT], "{} {}".format, initial=kind + first)
        for kind in kinds
        for begin, first in enumerate(words)
        if _OPENS + kind + first in begun
    )
    return carried(chain.from_iterable(runs))


def _names(text: str | None) -> Sequence[str]:
    """Return the name that `text` is, none if it is no name to be found in texts."""
    words = split_words(fold(text or ""))
    return (" ".join(words),) if 0 < len(words) <= _LONGEST_SUBJECT and split_keywords(text or "") else ()
