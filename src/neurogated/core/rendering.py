"""What stands for a memory: before the embedder, in the keyword index, and as what it is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import accumulate, chain
from typing import Protocol

from neurogated.core.found import Found
from neurogated.core.keywords import fold, split_keywords
from neurogated.core.turns import turn_tags
from neurogated.core.words import split_words

__all__ = [
    "TIME",
    "Described",
    "Text",
    "document_tag",
    "keyword_text",
    "names_in",
    "opening_tag",
    "own_tag",
    "render",
    "speaker_tag",
    "subject_names",
    "subject_tag",
    "subjects",
    "subjects_among",
    "tags",
    "trait_tag",
]

TIME = "time"
"""The trait of a memory whose content tells a time."""
_SUBJECT = "subject "
_SPEAKER = "speaker "
_OPENS = "opens "
_QUALIFIER = re.compile("[(\uff08][^()\uff08\uff09]*[)\uff09]\\s*$")
_COMMA = re.compile("[,，]")
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

    @property
    def found(self) -> Found:
        """What the memory found out by itself."""


class Described(Text, Protocol):
    """A text with what is known of it, as a store indexes it."""

    @property
    def tags(self) -> Sequence[str]:
        """Words of the caller's own."""

    @property
    def timestamp(self) -> datetime | None:
        """When what it tells happened."""

    @property
    def role(self) -> str | None:
        """Of a message: `user`, `assistant`, or another."""

    @property
    def position(self) -> int | None:
        """Place in its session; None outside of one."""


def render(node: Text) -> str:
    """Return the text that stands for a memory before the embedder, a language model or a reader.

    A passage often does not name what it is about; and `Speaker said, "…"` is found far better than `speaker: …`.
    """
    text = f'{node.speaker} said, "{_without_label(node)}"' if node.speaker else node.content
    title = node.title or _found_title(node)
    return f"{title}\n{text}" if title else text


def _without_label(node: Text) -> str:
    """Return the content without the speaker's name and a colon before it."""
    label = f"{node.speaker}:"
    return node.content.removeprefix(label).lstrip() if node.content.startswith(label) else node.content


def keyword_text(node: Described) -> str:
    """Return the text that stands for a memory in the keyword index: what is embedded, and its date."""
    moment = node.timestamp
    return f"{moment.day} {moment:%B %Y}\n{render(node)}" if moment else render(node)


def tags(node: Described) -> frozenset[str]:
    """Return the tags of a node, by which it can be found; each holds a blank.

    They are what it is about, who speaks, whether it tells a time, its document, those of a turn, and the tags that its
    owner gave it.
    """
    named = [subject_tag(name) for name in subject_names(node)]
    named += [speaker_tag(name) for name in _names(node.speaker)]
    found = [*named, *map(opening_tag, named), *map(own_tag, node.tags)]
    found += [trait_tag(TIME)] * bool(node.found.times)
    if node.found.document_id is not None:
        found.append(document_tag(node.found.document_id))
    return frozenset((*found, *turn_tags(node)))


def subject_names(node: Text) -> tuple[str, ...]:
    """Return the names, in folded words, of what a text is about: by its title, or else as they were found in it."""
    titles = node.found.names if node.title is None else (node.title,)
    return tuple(dict.fromkeys(chain.from_iterable(map(subjects, titles))))


def subjects(title: str | None) -> tuple[str, ...]:
    """Return the names, in folded words, under which other texts may mention what a text of that title is about.

    They are the title, without a qualifier in brackets, and what stands before the title's first comma; never a name
    that is made of stop words alone.
    """
    if title is None:
        return ()
    bare = _QUALIFIER.sub("", title)
    return tuple(dict.fromkeys(name for text in (title, bare, _COMMA.split(bare)[0]) for name in _names(text)))


def subjects_among(found: Iterable[str]) -> frozenset[str]:
    """Return the names of those tags of a node that say what it is about."""
    return frozenset(tag.removeprefix(_SUBJECT) for tag in found if tag.startswith(_SUBJECT))


def _found_title(node: Text) -> str | None:
    """Return the title that was found, for a text that does not hold it, such as a later chunk of a document."""
    return next((name for name in node.found.names[:1] if name not in node.content), None)


def subject_tag(name: str) -> str:
    """Return the tag of nodes that are about `name`, in folded words."""
    return f"{_SUBJECT}{name}"


def speaker_tag(name: str) -> str:
    """Return the tag of what `name`, in folded words, said."""
    return f"{_SPEAKER}{name}"


def trait_tag(trait: str) -> str:
    """Return the tag of nodes with a trait that a kernel may look for, such as `TIME`."""
    return f"has {trait}"


def own_tag(tag: str) -> str:
    """Return the tag of nodes that their owner gave a tag."""
    return f"tag {tag}"


def document_tag(document_id: str) -> str:
    """Return the tag of the nodes of a document."""
    return f"document {document_id}"


def opening_tag(tag: str) -> str:
    """Return the tag of nodes with the tag of a name whose first word is that of `tag`, one of a name too."""
    kind, word, *_ = tag.split(" ", 2)
    return f"{_OPENS}{kind} {word}"


def names_in(
    texts: Sequence[Sequence[str]], existing: Callable[[Iterable[str]], Collection[str]], *, speakers: bool = True
) -> list[frozenset[str]]:
    """Return for each text the tags of subjects and speakers that it names, of those that `existing` says exist.

    Every run of words could be a name; only those are asked for whose first word begins one.

    Args:
        texts: the folded words of each text.
        existing: returns which of some tags some node has; it is asked twice.
        speakers: whether names of speakers count, beside those of subjects.
    """
    kinds = (_SUBJECT, _SPEAKER)[: 1 + speakers]
    begun = existing({_OPENS + kind + word for words in texts for kind in kinds for word in words})
    runs = [{run for kind in kinds for run in _runs(words, kind, begun)} for words in texts] if begun else []
    known = existing(set().union(*runs)) if any(runs) else ()
    return [frozenset(found.intersection(known)) for found in runs] if known else [frozenset()] * len(texts)


def _runs(words: Sequence[str], kind: str, begun: Collection[str]) -> Iterator[str]:
    """Yield the tags of all names of a kind that words could be, from where one begins."""
    firsts = {word for word in set(words) if _OPENS + kind + word in begun}
    for begin in [place for place, word in enumerate(words) if word in firsts]:
        yield from accumulate(words[begin + 1 : begin + _LONGEST_SUBJECT], "{} {}".format, initial=kind + words[begin])


def _names(text: str | None) -> Sequence[str]:
    """Return the name that `text` is, none if it is no name to be found in texts."""
    words = split_words(fold(text or ""))
    return (" ".join(words),) if 0 < len(words) <= _LONGEST_SUBJECT and split_keywords(text or "") else ()
