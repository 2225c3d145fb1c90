"""The text of a memory for the embedder and for the keyword index, and its tags."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain

from neurogated.core.contexts import remembered
from neurogated.core.turns import Described, Text, turn_tags
from neurogated.text.keywords import ENGLISH_STOP_WORDS, fold, split_keywords, split_words

SUBJECT, SPEAKER, PLACE = "subject ", "speaker ", "at "
"""Prefixes of tags with a name in folded words: of texts about it, of its speaker, and of its place."""
DOCUMENT, OWN, TRAIT = "document ", "tag ", "has "
"""Prefixes of tags: with the id of a document, with a tag of the owner, and with a trait that a kernel may prefer."""
TIME = "time"
"""The trait of a memory whose content mentions a time."""
_OPENS = "opens "
_QUALIFIER = re.compile("[(\uff08][^()\uff08\uff09]*[)\uff09]\\s*$")
_COMMA = re.compile("[,，]")
_LONGEST_SUBJECT = 8
_LONGEST_VALUE = 16
"""Words of a value in its tag."""


def render(node: Text) -> str:
    """Return the text of a memory for a model or a reader, after its title, which a passage often does not name."""
    return _rendered(node, node.speaker)


def search_text(node: Text) -> str:
    """Return the text of a memory for the embedder, as `Speaker said, "…"`; a label counts for the speaker."""
    return _rendered(node, node.speaker or node.found.label)


def said_by(speaker: str, words: str = "") -> str:
    """Return the embedded text of a message; without words, what all messages of its speaker have in common."""
    return f'{speaker} said, "{words}"'


def _rendered(node: Text, speaker: str | None) -> str:
    text = node.content
    if speaker:
        # Without a leading label of the speaker's name and a colon.
        words = text.removeprefix(f"{speaker}:")
        text = said_by(speaker, text if words == text else words.lstrip())
    names = node.found.names
    title = node.title or (names[0] if names and names[0] not in node.content else None)
    return f"{title}\n{text}" if title else text


def keyword_text(node: Described) -> str:
    """Return the text of a memory for the keyword index: its date and the embedded text. A claim has none."""
    if node.found.statement is not None and node.found.statement.is_read:
        return ""
    moment, text = node.timestamp, search_text(node)
    return f"{moment.day} {moment:%B %Y}\n{text}" if moment else text


def tags(node: Described) -> frozenset[str]:
    """Return the tags of a node for the inverted index; each contains a blank.

    They name its subjects, its speaker or label, its place, the trait of mentioning a time, its document, its slot, the
    properties of a turn, and the tags that its owner gave it.
    """
    slot: tuple[str, ...] = ()
    if (said := node.found.statement) is not None:
        slot = slot_tag(said.subject, said.attribute), value_tag(said.subject, said.attribute, said.value)
    named = [SUBJECT + name for name in subject_names(node)]
    named += [SPEAKER + name for name in _names(node.speaker or node.found.label)]
    place = node.found.place or ""
    # A text with a title is about its subject; the first place that it mentions says little.
    if place and (node.title is None or place not in node.content):
        named += [PLACE + name for name in subjects(place)]
    found = [*named, *map(opening_tag, named), *(OWN + tag for tag in node.tags)]
    found += [TRAIT + TIME] * bool(node.found.times)
    if node.found.document_id is not None:
        found.append(DOCUMENT + node.found.document_id)
    return frozenset((*found, *slot, *turn_tags(node)))


def subject_names(node: Text) -> tuple[str, ...]:
    """Return the names of a text's subjects, in folded words: from its title, or else from the derived names."""
    titles = node.found.names if node.title is None else (node.title,)
    return tuple(dict.fromkeys(chain.from_iterable(map(subjects, titles))))


def subjects(title: str | None) -> tuple[str, ...]:
    """Return the folded names of the subject of a title: whole, without brackets at its end, and up to its comma."""
    if title is None:
        return ()
    bare = _QUALIFIER.sub("", title)
    return tuple(dict.fromkeys(name for text in (title, bare, _COMMA.split(bare)[0]) for name in _names(text)))


def named_among(found: Iterable[str], kind: str) -> frozenset[str]:
    """Return the names in those tags that have the prefix `kind`, such as `SUBJECT`."""
    return frozenset(tag.removeprefix(kind) for tag in found if tag.startswith(kind))


@remembered(4_096)
def value_tag(subject: str, attribute: str, value: str) -> str:
    """Return the tag of facts and claims with a value; inflection and stop words make no difference."""
    words = split_keywords(value) or split_words(fold(value))
    return f"value {slot_tag(subject, attribute)}: {' '.join(words[:_LONGEST_VALUE])}"


def slot_tag(subject: str, attribute: str) -> str:
    """Return the tag of facts and claims about an attribute of a subject; case and accents make no difference."""
    return f"slot {' '.join(split_words(fold(subject)))}: {' '.join(split_words(fold(attribute)))}"


def opening_tag(tag: str) -> str:
    """Return the tag of all nodes with a name whose first word is that of `tag`, which is a tag of a name."""
    kind, word, *_ = tag.split(" ", 2)
    return f"{_OPENS}{kind} {word}"


def names_in(
    texts: Sequence[Sequence[str]], existing: Callable[[Iterable[str]], Collection[str]], *, subjects_only: bool = False
) -> list[frozenset[str]]:
    """Return for each text, as folded words, the existing tags of the subjects, speakers and places that it names.

    Every run of words could be a name. Only runs whose first word begins an existing name are looked up. A speaker is
    also named by the first word of the name, as "Sam Vries" by "Sam": the tag is then that of `opening_tag`.
    `existing` returns those of some tags that at least one node has; it is called twice.
    """
    kinds = (SUBJECT,) if subjects_only else (SUBJECT, SPEAKER, PLACE)
    begun = existing({_OPENS + kind + word for words in texts for kind in kinds for word in words})
    runs = [set(_runs(words, kinds, begun)) for words in texts] if begun else []
    known = existing(set().union(*runs)) if any(runs) else ()
    named = [frozenset(found.intersection(known)) for found in runs] if known else [frozenset[str]()] * len(texts)
    if subjects_only or not begun:
        return named
    return [_by_first_names(words, found, begun) for words, found in zip(texts, named, strict=True)]


def _by_first_names(words: Sequence[str], found: frozenset[str], begun: Collection[str]) -> frozenset[str]:
    """Return the tags with those of speakers by first names; "Sam" in a found "Sam Berg" calls no other Sam."""
    openings = {
        f"{SPEAKER}{word}": opening
        for word in set(words)
        if (opening := f"{_OPENS}{SPEAKER}{word}") in begun
        and word not in ENGLISH_STOP_WORDS
        and not any(tag.startswith(f"{SPEAKER}{word} ") for tag in found)
    }
    return found.difference(openings).union(openings.values()) if openings else found


def _runs(words: Sequence[str], kinds: Sequence[str], begun: Collection[str]) -> Iterator[str]:
    """Yield the tags of some kinds for all runs of words that start with the first word of an existing name."""
    for begin, word in enumerate(words):
        for kind in kinds:
            if _OPENS + kind + word in begun:
                rest = words[begin + 1 : begin + _LONGEST_SUBJECT]
                yield from accumulate(rest, "{} {}".format, initial=kind + word)


@remembered(1_024)
def _names(text: str | None) -> Sequence[str]:
    words = split_words(fold(text or ""))
    return (" ".join(words),) if 0 < len(words) <= _LONGEST_SUBJECT and split_keywords(text or "") else ()
