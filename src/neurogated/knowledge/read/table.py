"""The table of attributes: what can be known of a person or a thing, and which values it has."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources
from typing import Any, NamedTuple

ENDED = "ended"
"""The attribute of a value that ends, in wordings that do not tell which attribute has it."""


class Attribute(NamedTuple):
    """One property of persons or things."""

    key: str
    is_single: bool
    """Whether it has one value at a time."""
    type: str
    """`place`, `name`, `date`, `time`, `number`, `id` or `text`; it says how values compare."""


@functools.cache
def packaged_table(name: str) -> dict[str, Any]:
    """Return a table of this package, such as `en` or `attributes`."""
    return tomllib.loads(resources.files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


@functools.cache
def attributes() -> dict[str, Attribute]:
    """Return the attributes of the table by their keys."""
    return {
        key: Attribute(key, is_single, kind)
        for is_single, name in ((True, "single"), (False, "many"))
        for kind, keys in packaged_table("attributes")[name].items()
        for key in keys.split()
    }


@functools.cache
def with_subjects(kind: str) -> frozenset[str]:
    """Return the attributes that the table lists as `others` or as `worded` by their subjects."""
    return frozenset(packaged_table("attributes")["subjects"][kind].split())


@functools.cache
def ending() -> tuple[str, ...]:
    """Return the attributes whose values end where only the value is named: "quit the flute"."""
    return tuple(packaged_table("attributes")["ended"]["keys"].split())


@functools.lru_cache(4_096)
def open_attribute(words: str) -> Attribute:
    """Return the attribute of words that the table lacks, in one form for "is located in" and "located in".

    A noun with a copula has one value at a time, such as "the status is", and so have the verbs that the table lists.
    """
    data = packaged_table("attributes")["open"]
    listed = words.lower().replace("_", " ").split()
    ends = listed[-1] in data["copulas"].split() if listed else False
    key = [word for word in listed if word not in data["dropped"].split()]
    kind = next((kind for kind, nouns in data["types"].items() if key and key[-1] in nouns.split()), "text")
    is_single = kind != "text" or (ends and len(key) > 0) or any(word in data["one"].split() for word in key)
    return Attribute(" ".join(key) or words.lower(), is_single, kind)


def attribute_of(key: str, words: str) -> Attribute:
    """Return the attribute of a wording: of the table, or of the words that stand for {k} in it."""
    if key == "open" or key not in attributes():
        return open_attribute(words or key)
    keyed = packaged_table("attributes")["keyed"]
    return attributes()[key]._replace(key=keyed[key].format(words)) if words else attributes()[key]
