"""Which attribute a key, a noun, or words between a subject and a value name."""

from __future__ import annotations

import functools

from neurogated.knowledge.read.clauses import Clause
from neurogated.knowledge.read.matching import matches
from neurogated.knowledge.read.table import Attribute, attribute_of, attributes, open_attribute, packaged_table
from neurogated.knowledge.read.wordings import language
from neurogated.text.normalise import tokens_of


@functools.lru_cache(4_096)
def attribute_named(words: str) -> Attribute:
    """Return the attribute of a key, of a noun, or of the words between a subject and a value, such as "lives in"."""
    for key, phrase in packaged_table("attributes")["keyed"].items():
        before, _, after = phrase.partition("{}")
        if words.startswith(before) and words.endswith(after) and len(words) > len(before + after):
            return attribute_of(key, words.removeprefix(before).removesuffix(after))
    return attributes().get(words) or _attribute_of_words(words) or open_attribute(words)


def ended_by(noun: str) -> tuple[str, ...]:
    """Return the attributes whose values end where a noun names what ends, such as "my job"."""
    key = attribute_named(noun.casefold()).key
    return tuple(packaged_table("attributes")["ended"]["with"].get(key, key).split())


def _attribute_of_words(words: str) -> Attribute | None:
    """Return the attribute that words such as "lives in" or "email is" name; None if no wording has them."""
    own = language("en")
    for text in (f"Xx {words} Yy", f"Xx's {words} Yy", f"Xx's {words} is Yy"):
        tokens = tokens_of(text)
        clause = Clause(0, text, tokens, [""] * len(tokens), is_claimed=True)
        for match in matches(clause, own):
            is_whole = match.value == (len(tokens) - 1, len(tokens)) and match.subject == (0, 1 + match.is_owner)
            if is_whole and "|" not in match.wording.value_kind and match.wording.attribute != "open":
                return attribute_of(match.wording.attribute, "")
    return None
