"""Which words of a clause are a value: where it begins and ends, whether it is of its kind, and its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from string import digits

from neurogated.knowledge.read.clauses import JOIN, TIME, Clause
from neurogated.knowledge.read.matching import Match
from neurogated.knowledge.read.places import is_place
from neurogated.knowledge.read.table import Attribute, attributes
from neurogated.knowledge.read.wordings import Language

_TIMED = frozenset({"date", "time", "number"})
"""Types of values that hold times."""
_DATED = frozenset({"date", "time"})
_KEPT = frozenset({"", "aux", "past_aux"})
"""Labels of words that may end a value."""
_SHORT = frozenset({"name", "place", "id", "number", "noun"})
"""Types of values that end at a comma."""
_PROPER = frozenset({"name", "place", "id", "address"})
"""Types of values that end before a preposition."""
_FREE = frozenset({"text", "clause"})
"""Types of values that are whole phrases."""
_KINDS_OF_TYPES = {
    "name": "name",
    "place": "proper",
    "number": "number",
    "date": "date",
    "time": "date",
    "id": "id",
    "address": "street",
}
_MOST_NAME, _MOST_GIVEN, _LEAST_DIGITS = 6, 2, 4
"""Words of a name, words of a person's name, and digits of a number such as that of a phone."""
Span = tuple[int, int]


def text_of(clause: Clause, span: Span) -> str:
    """Return the words of a span as they are written."""
    begin, end = span
    return clause.text[clause.tokens[begin].begin : clause.tokens[end - 1].end] if begin < end else ""


def trimmed(clause: Clause, span: Span, attribute: Attribute, own: Language) -> Span | None:
    """Return a value without articles, cues and what follows it; None if it is the subject of another verb."""
    tokens, labels, words = clause.tokens, clause.labels, own.words
    is_timed, end = attribute.type in _TIMED, span[1]
    begin = _begin(clause, span, attribute, own)
    first = tokens[begin]
    others = (
        own.any_of("breaks", "since", "questions")
        if attribute.type not in _FREE and first.raw.islower()
        else frozenset[str]()
    )
    if first.word in words["me"] or first.word in others or (begin == end - 1 and first.word in words["third"]):
        return None
    for n in range(begin + 1, end):
        if is_timed and labels[n] == TIME:
            continue
        if tokens[n].word in words["breaks"] and attribute.type not in _FREE:
            return None
        if _ends(clause, n, attribute, own):
            end = n
            break
    if attribute.type in _DATED:
        return _dated(clause, begin, end, own)
    if not _ends_list(clause, begin, end, own):
        while begin < end and labels[end - 1] not in _KEPT and not (is_timed and _is_kept(clause, begin, end, own)):
            end -= 1
    while begin < end and not tokens[end - 1].word[-1].isalnum() and tokens[end - 1].word not in "%€$£+#":
        end -= 1
    return (begin, end) if begin < end else None


def _ends_list(clause: Clause, begin: int, end: int, own: Language) -> bool:
    """Return whether the times at the end are the last of a list, as in "every Wednesday and Saturday at four"."""
    before = next((n for n in range(end - 1, begin, -1) if clause.labels[n] != TIME), begin)
    return begin < before < end - 1 and clause.tokens[before].word in own.words["lists"]


def _begin(clause: Clause, span: Span, attribute: Attribute, own: Language) -> int:
    """Return where a value begins after articles, cues and marks; that of a place begins with its name."""
    begin, end = span
    tokens, words = clause.tokens, own.words
    led = words["articles"] if attribute.type in _FREE else own.any_of("articles", "mine")
    led |= words["prepositions"] if attribute.type in _DATED else frozenset()
    led -= words["numbers"] if attribute.type in _TIMED else frozenset()
    skipped = {"plain", "adds", "now", "hedge", "not", "ends", *(() if attribute.type in _TIMED else (TIME,))}

    def is_skipped(n: int) -> bool:
        if not tokens[n].word[0].isalnum():
            return tokens[n].word not in "$€£#+《"
        is_led = tokens[n].word in led or clause.labels[n] in skipped
        return is_led and not (tokens[n].raw[:1].isupper() and n and clause.labels[n] != TIME)

    while attribute.type != "clause" and begin < end - 1 and is_skipped(begin):
        begin += 1
    if attribute.type == "place" and clause.has_case and tokens[begin].raw[:1].islower():
        named = next((n for n in range(begin + 1, end) if tokens[n].raw[:1].isupper()), begin)
        begin = named if tokens[named - 1].word in words["leads"] else begin
    return begin


def _dated(clause: Clause, begin: int, end: int, own: Language) -> Span | None:
    """Return the first run of words that are a time."""

    def is_time(n: int) -> bool:
        word = clause.tokens[n].word
        return clause.labels[n] == TIME or word[0].isdecimal() or word in own.words["numbers"] | own.words["clock"]

    begin = next((n for n in range(begin, end) if is_time(n)), end)
    while begin < end - 1 and clause.tokens[begin].word in own.words["prepositions"] | (
        own.words["articles"] - own.words["numbers"]
    ):
        begin += 1
    last = begin
    for n in range(begin, end):
        if is_time(n):
            last = n + 1
        elif clause.tokens[n].word not in own.words["time_words"] | {",", "，"}:
            break
    return (begin, last) if begin < last else None


def _is_kept(clause: Clause, begin: int, end: int, own: Language) -> bool:
    """Return whether a time at the end of a number belongs to it, as in "900 euros a month" and "3 hours"."""
    first = end
    while first > begin and clause.labels[first - 1] == TIME:
        first -= 1
    if first == end:
        return False
    is_rate = clause.tokens[first].word in own.words["articles"] | own.words["per"]
    return is_rate or not own.has_spaces or first == begin or not _has_number(clause, (begin, first), own)


def _ends(clause: Clause, n: int, attribute: Attribute, own: Language) -> bool:
    """Return whether a value ends before the word `n`."""
    word, words = clause.tokens[n].word, own.words
    is_joint = clause.labels[n] == JOIN and word not in words["lists"]
    if is_joint or word in words["stops"] or word in ";:()\uff08\uff09":
        return True
    if word in ",，":
        after = n + 1 < len(clause.tokens) and clause.tokens[n + 1]
        is_list = not attribute.is_single or (attribute.type == "place" and after and is_place(after.raw))
        return attribute.type in _SHORT and not is_list
    if attribute.type in _PROPER:
        return word in words["prepositions"] and word not in words["inside"]
    return attribute.type == "noun" and word in words["after_nouns"]


def parts_of(clause: Clause, span: Span, attribute: Attribute, own: Language) -> Iterator[Span]:
    """Yield the values of a list, if the attribute has many, else the value."""
    begin, end = span
    if attribute.is_single or attribute.type in _FREE:
        yield span
        return
    led = own.any_of("articles", "lists", "mine")
    for n in range(begin, end + 1):
        if n == end or clause.tokens[n].word in own.words["lists"] | {",", "，", "、"}:
            while begin < n and (clause.tokens[begin].word in led or clause.labels[begin] in {"plain", "adds"}):
                begin += 1
            if begin < n:
                yield begin, n
            begin = n + 1


def fits(clause: Clause, span: Span, kind: str, attribute: Attribute, own: Language) -> bool:
    """Return whether a value is of the kind that its wording names, or else of its attribute's type."""
    tokens = clause.tokens[span[0] : span[1]]
    unnamed = own.any_of("pronouns", "mine", "third")
    ends = tokens[-1:] if own.has_spaces else tokens
    is_unnamed = all(token.word in unnamed for token in ends) or (own.has_spaces and tokens[0].word in unnamed)
    is_new = tokens[0].word in own.words["new"]
    is_new_person = is_new and attribute.key == "possession" and ends[-1].word in own.persons
    if (is_unnamed and attribute.type not in _FREE) or is_new_person:
        return False
    kind = kind or (_KINDS_OF_TYPES.get(attribute.type, "") if attribute.key in attributes() else "")
    if attribute.type == "number" and attribute.key in attributes() and not _has_number(clause, span, own):
        return False
    if kind in own.kinds or "|" in kind:
        listed = own.kinds.get(kind) or frozenset(kind.split("|"))
        return _is_listed([token.word for token in tokens], listed, own)
    if kind in _CHECKS:
        return _CHECKS[kind](clause, span, own)
    return not kind or tokens[0].word.endswith(kind) or tokens[-1].word.endswith(kind)


def is_description(clause: Clause, match: Match, own: Language) -> bool:
    """Return whether a noun is only described, as in "the soup is hot": the next thing said of it need not differ."""
    key, value = clause.tokens[slice(*match.key)], clause.tokens[slice(*match.value)]
    owner = clause.tokens[match.subject[0]].word if match.subject[0] < match.subject[1] else ""
    labels = clause.labels[slice(*match.value)]
    named = (token.raw for token, label in zip(value, labels, strict=True) if label != TIME)
    is_plain = not any(raw[0].isdecimal() or raw[0].isupper() for raw in named)
    return is_plain and (len(key) == 1 or not own.has_spaces) and owner in own.any_of("definite", "mine", "theirs")


def _is_proper(clause: Clause, span: Span, own: Language) -> bool:
    first = clause.tokens[span[0]]
    is_name = not first.raw[:1].islower() or not clause.has_case
    if not own.has_spaces and _is_listed(
        [token.word for token in clause.tokens[slice(*span)]], own.kinds["trade"], own
    ):
        return False
    most = _MOST_NAME if own.has_spaces else 2 * _MOST_NAME
    return is_name and span[1] - span[0] <= most and not first.raw[0].isdecimal() and not clause.labels[span[0]]


def _has_number(clause: Clause, span: Span, own: Language) -> bool:
    """Return whether a value has a number that is no part of a name such as "iPhone 15"."""
    tokens = clause.tokens[slice(*span)]
    places = (n for n, token in enumerate(tokens) if token.word[0].isdecimal() or token.word in own.words["numbers"])
    first = next(places, None)
    before = tokens[first - 1].raw if first and own.has_spaces and clause.has_case else ""
    return first is not None and (before.islower() or before.isupper() or not before.isalpha())


def _is_bare(clause: Clause, span: Span, own: Language) -> bool:
    words = [token.word for token in clause.tokens[slice(*span)]]
    return len(words) <= (1 if own.has_spaces else 3) and all(w.isdecimal() or w in own.words["numbers"] for w in words)


_CHECKS: dict[str, Callable[[Clause, Span, Language], bool]] = {
    "name": _is_proper,
    "proper": _is_proper,
    "known": lambda clause, span, _: is_place(text_of(clause, span)),
    "place": lambda clause, span, own: (
        clause.tokens[span[0]].word not in own.words["common"]
        and (is_place(text_of(clause, span)) or (clause.has_case and _is_proper(clause, span, own)))
    ),
    "firm": lambda clause, span, own: (
        clause.tokens[span[0]].word not in own.words["common"]
        and _is_proper(clause, span, own)
        and not is_place(text_of(clause, span))
    ),
    "lower": lambda clause, span, _: not clause.has_case or not clause.tokens[span[0]].raw[:1].isupper(),
    "number": _has_number,
    "bare": _is_bare,
    "person": lambda clause, span, own: (
        clause.has_case
        and _is_proper(clause, span, own)
        and span[1] - span[0] <= _MOST_GIVEN
        and clause.tokens[span[0] - 1].word not in own.words["articles"]
        and not is_place(text_of(clause, span))
        and clause.tokens[span[0]].word not in own.kinds["demonym"] | own.kinds["faith"]
    ),
    "date": lambda clause, span, own: TIME in clause.labels[slice(*span)] or _has_number(clause, span, own),
    "id": lambda clause, span, _: (
        "@" in text_of(clause, span) or sum(map(str.isdecimal, text_of(clause, span))) >= _LEAST_DIGITS
    ),
    "street": lambda clause, span, _: any(each.isdecimal() for each in text_of(clause, span)),
    "spot": lambda clause, span, own: (
        not clause.tokens[span[0]].raw[:1].islower()
        or clause.tokens[span[0] - 1].word in own.words["articles"] | own.words["mine"]
    ),
}
"""What a value of a kind is; other kinds are lists of words in the file of the language."""


def _is_listed(words: Sequence[str], listed: frozenset[str], own: Language) -> bool:
    """Return whether a value, its first or its last word is in a list, or ends with an ending of it, such as "-ist"."""
    text = own.joint.join(words)
    if any(f"!{word}" in listed for word in (words[0], words[-1], text)):
        return False
    if not own.has_spaces and any(each in text for each in listed if each[0] not in "-!"):
        return True
    return text in listed or not listed.isdisjoint(words) or text.endswith(_endings(listed))


@cache
def _endings(listed: frozenset[str]) -> tuple[str, ...]:
    """Return the endings in a list. One Latin letter is a unit after a digit, as in "1,80m"."""
    ends = {each[1:] for each in listed if each.startswith("-")}
    units = {one for one in ends if len(one) == 1 and one.isascii() and one.isalpha()}
    return (*(ends - units), *(digit + unit for unit in units for digit in digits))
