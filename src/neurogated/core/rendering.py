"""What stands for a memory: before the embedder, in the keyword index, and as what it is about.

Metadata with a meaning here: `title`, `speaker`, `context` (the turns just before a turn of a dialogue), `date` (as it
is written) or `timestamp` (seconds since 1970 UTC), and `times` (words of the content that tell when).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from neurogated.core.keywords import fold, split_keywords
from neurogated.core.words import split_words

__all__ = [
    "TIME",
    "document_tag",
    "keyword_text",
    "keywords_among",
    "names_in",
    "opening_tag",
    "own_and_indexed_keywords",
    "own_tag",
    "quoted",
    "quoted_tag",
    "quotes",
    "render",
    "speaker_tag",
    "subject_tag",
    "subjects",
    "subjects_among",
    "tags",
    "trait_tag",
    "without_quotes",
]

TIME = "time"
"""The trait of a memory whose content tells a time."""
_SUBJECT = "subject "
_SPEAKER = "speaker "
_QUOTED = "quotes "
_OPENS = "opens "
_QUALIFIER = re.compile("[(\uff08][^()\uff08\uff09]*[)\uff09]\\s*$")
_COMMA = re.compile("[,，]")
_LONGEST_SUBJECT = 8


def quoted(content: str, metadata: Mapping[str, Any]) -> str:
    """Return the content as it is quoted: under its title, and words of a dialogue as reported speech.

    A passage often does not name what it is about; and `Speaker said, "…"` is found far better than `speaker: …`.
    """
    speaker, title = metadata.get("speaker"), metadata.get("title")
    text = f'{speaker} said, "{content}"' if speaker else content
    return f"{title}\n{text}" if title else text


def quotes(metadata: Mapping[str, Any]) -> Sequence[object]:
    """Return the turns before it that a turn of a dialogue carries as its `context`, the last first."""
    context = metadata.get("context")
    return context if isinstance(context, list | tuple) else ()


def render(content: str, metadata: Mapping[str, Any]) -> str:
    """Return the text that stands for a node before the embedder: as it is quoted, and what was said before it.

    A turn often makes sense only as an answer to the one before; what comes first counts most for the embedder.
    """
    return "\n".join((quoted(content, metadata), *map(str, quotes(metadata))))


def without_quotes(metadata: Mapping[str, Any], unwanted: Collection[str]) -> Mapping[str, Any]:
    """Return the metadata without those turns in its `context` that are among `unwanted`."""
    said = quotes(metadata)
    kept = [item for item in said if not (isinstance(item, str) and item in unwanted)]
    if len(kept) == len(said):
        return metadata
    rest = {name: value for name, value in metadata.items() if name != "context"}
    return {**rest, "context": kept} if kept else rest


def keyword_text(content: str, metadata: Mapping[str, Any]) -> str:
    """Return the text that stands for a node in the keyword index: what is embedded, and its date."""
    date = metadata.get("date")
    moment = metadata.get("timestamp")
    if date is None and isinstance(moment, int | float) and not isinstance(moment, bool):
        date = _date(moment)
    return f"{date}\n{render(content, metadata)}" if date else render(content, metadata)


def tags(content: str, metadata: Mapping[str, Any], given: Iterable[str] = ()) -> frozenset[str]:
    """Return the tags of a node, by which it can be found; each holds a blank.

    They are what it is about, who speaks, whether it tells a time, its document, the keywords that it only quotes, and
    the tags that its owner gave it.
    """
    named = [subject_tag(name) for name in subjects(metadata)]
    named += [speaker_tag(name) for name in _names(metadata.get("speaker"))]
    found = [*named, *map(opening_tag, named), *map(own_tag, given)]
    found += [trait_tag(TIME)] * bool(metadata.get("times"))
    if isinstance(document_id := metadata.get("document_id"), str):
        found.append(document_tag(document_id))
    if keyword_text(content, metadata) != _bare(content, metadata):
        own, indexed = own_and_indexed_keywords(content, metadata)
        found += map(quoted_tag, indexed - own)
    return frozenset(found)


def own_and_indexed_keywords(content: str, metadata: Mapping[str, Any]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the keywords of a node's content and title, and these with those that it only quotes."""
    bare, text = _bare(content, metadata), keyword_text(content, metadata)
    own = frozenset(split_keywords(bare))
    # Most texts quote nothing.
    return own, own if text == bare else frozenset(split_keywords(text))


def subjects(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names, in folded words, under which other texts may mention what a node is about.

    They are its title, without a qualifier in brackets, and what stands before the title's first comma; never a name
    that is made of stop words alone.
    """
    title = metadata.get("title")
    if not isinstance(title, str):
        return ()
    bare = _QUALIFIER.sub("", title)
    return tuple(dict.fromkeys(name for text in (title, bare, _COMMA.split(bare)[0]) for name in _names(text)))


def subjects_among(found: Iterable[str]) -> frozenset[str]:
    """Return the names of those tags of a node that say what it is about."""
    return frozenset(tag.removeprefix(_SUBJECT) for tag in found if tag.startswith(_SUBJECT))


def keywords_among(terms: Collection[str]) -> frozenset[str]:
    """Return those of the terms of a node that are keywords of its content and title."""
    return frozenset(term for term in terms if " " not in term and quoted_tag(term) not in terms)


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


def quoted_tag(keyword: str) -> str:
    """Return the tag of nodes for which a keyword is indexed that neither their content nor their title holds."""
    return f"{_QUOTED}{keyword}"


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


def _bare(content: str, metadata: Mapping[str, Any]) -> str:
    title = metadata.get("title")
    return f"{title}\n{content}" if title else content


def _names(text: object) -> Sequence[str]:
    """Return the name that `text` is, none if it is no name to be found in texts."""
    if not isinstance(text, str):
        return ()
    words = split_words(fold(text))
    return (" ".join(words),) if 0 < len(words) <= _LONGEST_SUBJECT and split_keywords(text) else ()


def _date(timestamp: float) -> str | None:
    try:
        moment = datetime.fromtimestamp(timestamp, UTC)
    except (OverflowError, OSError, ValueError):
        # A number that is no time of this world says nothing about when.
        return None
    return f"{moment.day} {moment:%B %Y}"
