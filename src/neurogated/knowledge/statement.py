"""Reads a text or a fact into a statement: its words, its times, whether it is negated, and how it is meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

from neurogated.core.text_caches import remembered
from neurogated.errors import InputError
from neurogated.knowledge import cues
from neurogated.knowledge.moments import Found, Window, find_moments
from neurogated.knowledge.phrases import plainer
from neurogated.knowledge.tokens import AUXILIARIES, HAN, WORD, Token, characters_in, spaces, words_in
from neurogated.text.keywords import fold
from neurogated.text.language import language_of
from neurogated.text.strings import checked_text
from neurogated.text.words import words_of

__all__ = [
    "Slot",
    "Statement",
    "differ_in_day",
    "differ_in_owner",
    "in_one_language",
    "read_statement",
    "read_text",
    "said_as",
]

_REMEMBERED = 4_096
_NO_ONE = re.compile(r"\b(?:no one|not any ?(?:one|body)|not a single (?:person|one))\b", re.IGNORECASE)
_NO_WORDS = re.compile(r"['’]s\b|(?<!\S)\S*[@\d:]\S*|\b[A-Z]{2,}\b")
"""English endings, codes and acronyms, which look like words of other languages."""
_OWNER = re.compile(r"(?<=\w)['’]s(?= \w)|\bof\b")
_LATIN = re.compile("[a-zA-Z]")
_SUBJECTS = words_of("""
        i we you he she they ich wir du er sie yo nosotros tú él ella ellos je nous tu vous il elle
    """)
_DEFINITE = words_of("""
        the this that these those der die das dieser diese dieses el la los las este esta le les ce cette l
    """)
_DEFINITE = (_DEFINITE | cues.PRONOUNS.keys()) - _SUBJECTS
"""Words before one known thing."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Subject, attribute and value of a fact."""

    subject: str
    attribute: str
    value: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A text or a fact, as the judge of pairs reads it."""

    text: str
    language: str
    tokens: tuple[Token, ...]
    is_negated: bool = False
    mode: str = ""
    """Asked, supposed, wished or joked; empty for a plain statement."""
    holder: str = ""
    """The person whose opinion it reports."""
    quantifier: str = ""
    is_past: bool = False
    """It says that something is true no longer."""
    is_former: bool = False
    """It says that something was true before, and not that it has ended: "I used to live in Rome"."""
    is_new: bool = False
    """It says that something is true now, in contrast to before."""
    is_correction: bool = False
    is_passive: bool = False
    owned: str = ""
    """The way that it names owners: "'s" as in "Ann's house", or "of"; empty for none or both."""
    is_definite: bool = False
    """Its subject is one known thing."""
    window: Window = field(default_factory=Window)
    asserted: tuple[int, int, int] | None = None
    slot: Slot | None = None
    is_fact: bool = False
    """It was given as subject, attribute and value, and not as a text."""
    body: str = ""
    """The text without its holder, the time it holds, and words such as "now"."""
    frame: str = ""
    """The text with blanks for the times; the tokens name places in it."""

    @property
    def plain(self) -> str:
        """The text without case and punctuation."""
        return _plain(self.text)


def _plain(text: str) -> str:
    return " ".join(WORD.findall(fold(text))).rstrip(".")


def read_statement(content: str | Mapping[str, Any]) -> Statement:
    """Return the statement of a text, or of a fact with subject, attribute and value.

    Raises:
        InputError: a fact lacks a part, or a time cannot be read.
    """
    if isinstance(content, str):
        return read_text(content)
    text = content.get("content") or content.get("text") or content.get("statement")
    if text is not None:
        statement = read_text(str(text))
    else:
        parts = [_part(content, *names) for names in (("subject",), ("attribute", "predicate"), ("value", "object"))]
        statement = replace(read_text(" ".join(parts)), slot=Slot(*parts), is_fact=True)
    window = Window(_day(content.get("valid_from")), _day(content.get("valid_to")))
    asserted = _day(content.get("asserted_at") or content.get("timestamp"))
    return replace(statement, window=statement.window if window.is_open else window, asserted=asserted)


def _part(content: Mapping[str, Any], *names: str) -> str:
    value = next((content[name] for name in names if content.get(name) is not None), None)
    if value is None:
        raise InputError(f"the fact {dict(content)!r} has no {names[0]}; give a text, or subject, attribute and value")
    return " ".join(checked_text(f"the {names[0]} of the fact", str(value)).split())


def _day(moment: object) -> tuple[int, int, int] | None:
    if moment is None:
        return None
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            raise InputError(f"the time {moment!r} cannot be read; write it as 2024-05-31") from None
    if not isinstance(moment, date):
        raise InputError(f"the time {moment!r} is no date")
    return moment.year, moment.month, moment.day


@remembered(_REMEMBERED)
def read_text(text: str, language: str | None = None) -> Statement:
    """Return the statement of a text, read in the given language or in its own."""
    text = plainer(_NO_ONE.sub("nobody", " ".join(text.split())))
    language = language or _language(text)
    han = language == "zh"
    holder, said = _holder(text)
    mode = next((name for name, pattern in cues.MODES.items() if pattern.search(text)), "")
    body = cues.BROKEN.sub(spaces, said)
    has_ended = bool(cues.ENDED.search(body))
    is_former = not has_ended and bool(cues.PAST.search(body))
    found = find_moments(body, han=han)
    window, kept = _window(found)
    bare, timeless = _blank(body, found), _blank(body, [each for each in found if each not in kept])
    for pattern in (cues.NOW, cues.CORRECTED, cues.ENDED, cues.PAST):
        bare, timeless = pattern.sub(spaces, bare), pattern.sub(spaces, timeless)
    tokens, is_negated, quantifier = (characters_in if han else words_in)(bare, language)
    ordered = sorted((*tokens, *(_moment_token(each, body) for each in kept)), key=lambda token: token.begin)
    first = WORD.search(body.lower())
    return Statement(
        text=text,
        language=language,
        tokens=tuple(ordered),
        is_negated=is_negated or has_ended,
        mode=mode,
        holder=holder,
        quantifier=quantifier,
        is_past=has_ended or is_former,
        is_former=is_former,
        is_new=bool(cues.NOW.search(body)),
        is_correction=bool(cues.CORRECTED.search(body)),
        is_passive=bool(cues.PASSIVE.search(body)),
        owned=owners.pop() if len(owners := {match[0] for match in _OWNER.finditer(body)}) == 1 else "",
        is_definite=_is_definite(body, first[0] if first else "", han=han),
        window=window,
        body=" ".join(timeless.split()).strip(" ,.!"),
        frame=bare,
    )


def _language(text: str) -> str:
    if len(HAN.findall(text)) > len(_LATIN.findall(text)) / 2:
        return "zh"
    return language_of(_NO_WORDS.sub(" ", text))


def differ_in_owner(one: Statement, other: Statement) -> bool:
    """Return whether one says "Ann's house" and the other "the house of Ann", which changes the order of words."""
    return {one.owned.replace("’", "'"), other.owned.replace("’", "'")} == {"'s", "of"}


def differ_in_day(one: Statement, other: Statement) -> bool:
    """Return whether they name a day by its distance, such as "today", and were said on different days."""
    is_relative = any(token.moment is not None and token.moment.relative for token in one.tokens)
    return is_relative and None not in (one.asserted, other.asserted) and one.asserted != other.asserted


def in_one_language(first: Statement, second: Statement) -> tuple[Statement, Statement]:
    """Return two statements read in the language of both together; a short text alone may show none."""
    if first.language == second.language or "zh" in {first.language, second.language}:
        return first, second
    language = _language(f"{first.text} {second.text}")
    return _reread(first, language), _reread(second, language)


def _reread(statement: Statement, language: str) -> Statement:
    other = said_as(statement, statement.text, language)
    return replace(other, slot=statement.slot, is_fact=statement.is_fact)


def said_as(statement: Statement, text: str, language: str) -> Statement:
    """Return a text as a statement with the times of another one."""
    other = read_text(text, language)
    window = other.window if statement.window.is_open else statement.window
    return replace(other, window=window, asserted=statement.asserted)


def _holder(text: str) -> tuple[str, str]:
    """Return the person whose opinion a text reports, empty for the speaker's own, and the text after it."""
    for pattern in cues.HOLDERS:
        if match := pattern.match(text):
            holder = fold(match["holder"]).strip()
            if (holder in cues.PRONOUNS and cues.PRONOUNS[holder] == "@i") or holder in {"我", "yo", "creo", "pienso"}:
                holder = ""
            rest = text[match.end() :]
            if rest.strip(' .!。"”'):
                return holder, rest
    return "", text


def _is_definite(body: str, first: str, *, han: bool) -> bool:
    if han:
        return not re.match(r"\s*(?:[我你他她](?!的|家|们的|们家|们公司)|[小老阿][\u4e00-\u9fff]|妈妈|爸爸)", body)
    return first.strip("'’") in _DEFINITE


def _window(found: list[Found]) -> tuple[Window, list[Found]]:
    """Return when a statement holds by "from … to …" and "since …", and the other moments."""
    begin = end = None
    kept = []
    for n, each in enumerate(found):
        after = found[n + 1].role if n + 1 < len(found) else ""
        starts = each.role in {"since", "seit", "desde", "depuis"}
        opens = each.role in {"from", "between", "von", "zwischen", "de", "entre", ""} and after in _UNTIL
        if each.moment.earliest is None:
            kept.append(each)
        elif starts or (opens and found[n + 1].moment.earliest is not None):
            begin = each.moment.earliest
        elif each.role in {"until", "till", "bis", "hasta", "jusqu'en", "jusqu'à"} or (each.role in _UNTIL and begin):
            end = each.moment.earliest
        else:
            kept.append(each)
    return Window(begin, end), kept


_UNTIL = frozenset({"to", "until", "till", "and", "bis", "und", "a", "hasta", "y", "à", "et"})


def _blank(text: str, moments: list[Found]) -> str:
    for begin, end, *_ in moments:
        text = text[:begin] + "," + " " * (end - begin - 1) + text[end:]
    return text


def _moment_token(found: Found, body: str) -> Token:
    word = body[found.begin : found.end].lower()
    has_verb = any(each in words for words in AUXILIARIES.values() for each in body[: found.begin].lower().split())
    return Token(word, str(found.moment), found.role, found.begin, after_verb=has_verb, moment=found.moment)
