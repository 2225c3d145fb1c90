"""The table of attributes: what can be known of a person or a thing, and which values it has."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources
from typing import Any, NamedTuple


class Attribute(NamedTuple):
    """One property of persons or things."""

    key: str
    is_single: bool
    """Whether it has one value at a time."""
    type: str
    """`place`, `name`, `date`, `time`, `number`, `id`, `noun` or `text`; it says how values compare."""


@functools.cache
def packaged_table() -> dict[str, Any]:
    """Return the table of attributes."""
    return tomllib.loads(resources.files(__package__).joinpath("attributes.toml").read_text(encoding="utf-8"))


@functools.cache
def attributes() -> dict[str, Attribute]:
    """Return the attributes of the table by their keys."""
    return {
        key: Attribute(key, is_single, kind)
        for is_single, name in ((True, "single"), (False, "many"))
        for kind, keys in packaged_table()[name].items()
        for key in keys.split()
    }


@functools.lru_cache(4_096)
def attribute_named(words: str) -> Attribute:
    """Return the attribute of a key, of another name such as "lives in", or else of words that the table lacks."""
    for key, phrase in packaged_table()["keyed"].items():
        before, _, after = phrase.partition("{}")
        if words.startswith(before) and words.endswith(after) and len(words) > len(before + after):
            return attributes()[key]._replace(key=words)
    plain = " ".join(_without_filler(words))
    found = attributes().get(words) or attributes().get(_other_names().get(plain, ""))
    return found or _open_attribute(words)


@functools.cache
def _other_names() -> dict[str, str]:
    """Return the keys of the table by the other names of attributes."""
    return {name.strip(): key for key, names in packaged_table()["names"].items() for name in names.split("|")}


def _open_attribute(words: str) -> Attribute:
    """Return the attribute of words that the table lacks, in one form for "is located in" and "located in".

    A noun with a copula has one value at a time, such as "the status is", and so have the verbs that the table lists.
    """
    data = packaged_table()["open"]
    listed, key = words.lower().replace("_", " ").split(), _without_filler(words)
    ends = listed[-1] in data["copulas"].split() if listed else False
    kind = next((kind for kind, nouns in data["types"].items() if key and key[-1] in nouns.split()), "text")
    is_single = kind != "text" or (ends and len(key) > 0) or any(word in data["one"].split() for word in key)
    return Attribute(" ".join(key) or words.lower(), is_single, kind)


def _without_filler(words: str) -> list[str]:
    """Return the words of an attribute without articles and copulas."""
    dropped = packaged_table()["open"]["dropped"].split()
    return [word for word in words.lower().replace("_", " ").split() if word not in dropped]
