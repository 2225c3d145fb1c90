"""Which attribute words between a subject and a value name."""

from __future__ import annotations

from neurogated.knowledge.read.clauses import Clause
from neurogated.knowledge.read.matching import matches
from neurogated.knowledge.read.table import Attribute, attribute_of
from neurogated.knowledge.read.wordings import language
from neurogated.text.normalise import tokens_of


def attribute_of_words(words: str) -> Attribute | None:
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
