"""Titles for texts without a title: a header, a heading, or the subject of the first sentence.

The title is a pure function of the text. These are tried in order:

    header      `Title: …`, or `Subject: …` among the headers of a mail, in several languages, or front matter
    heading     a Markdown heading, or a short first line that is not a sentence and has a text below it
    subject     the subject of the first sentence; see `first_subject`
"""

from __future__ import annotations

import re

from neurogated.ingestion.aliases import find_aliases
from neurogated.ingestion.first_subject import first_subject

_HEADER = re.compile(r"(?P<key>[^\W\d_][\w \-]{0,20}?)[ \t]*[:：][ \t]*(?P<value>.*)")
_TITLE_KEYS = frozenset(
    re.findall(
        r"\S+",
        """title subject titel betreff thema titre objet sujet título titulo asunto assunto titolo oggetto onderwerp
    tytuł temat rubrik ämne emne 标题 標題 主题 主題 题目 題目 件名 タイトル 제목""",
    )
)
_ANSWERED = re.compile(r"(?:(?:re|fwd?|aw|wg|tr|rv|sv|vs|回复|答复|转发)\s*(?:\[\d+\])?\s*[:：]\s*)+", re.IGNORECASE)
_MARKDOWN = re.compile(r"#{1,6}[ \t]+(?P<title>.*?)[ \t]*#*")
_BOLD = re.compile(r"(?P<fence>\*\*|__)(?P<title>[^*_]+)(?P=fence)[ \t]*:?")
_UNDERLINE = re.compile(r"[ \t]*(?:={3,}|-{3,}|~{3,})[ \t]*")
_FENCE = "---"
# Beginnings of list items, quotations, tables and code.
_NO_HEADING = re.compile(r"[\-*+•>|`{}<\[(\\/$@=~]|\d+[.)]\s|https?:|\w+[ \t]*[:：](?:\s|$)")
_SENTENCE_ENDS = ".!?…。！？:：,，;；、"
# A full stop that ends a name and not a sentence.
_ABBREVIATION = re.compile(r"(?:\b[^\W\d_]|\b(?:Jr|Sr|Inc|Ltd|Co|Corp|Bros|vs|St|Dr|No|Vol|etc))\.\Z")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_LETTER = re.compile(r"[^\W\d_]")
_LONGEST_HEADING = 100
_LONGEST_HAN_HEADING = 40
_MOST_WORDS = 14
_BEGINNING = 4_000
"""Characters of a text that are read for its title and names."""


def find_title(text: str) -> str | None:
    """Return the title in a text, None if it has none."""
    lines = text[:_BEGINNING].lstrip("\ufeff\n\r\t ").splitlines()
    if not lines:
        return None
    return _header(lines) or _heading(lines) or first_subject(text)


def find_names(text: str) -> tuple[str, ...]:
    """Return the title in a text, and the alternative names that the text gives for it."""
    text = text[:_BEGINNING]
    title = find_title(text)
    return () if title is None else (title, *find_aliases(title, text))


def _header(lines: list[str]) -> str | None:
    """Return the title among the `Key: value` lines at the beginning of a text."""
    fenced = lines[0].strip() == _FENCE
    for place, line in enumerate(lines[fenced:]):
        found = _HEADER.fullmatch(line.strip())
        if found is None:
            return None
        if found["key"].casefold() in _TITLE_KEYS:
            title = _ANSWERED.sub("", found["value"]).strip(" \t\"'“”«»")
            has_text = any(rest.strip() for rest in lines[fenced + place + 1 :])
            return title if has_text and _LETTER.search(title) and _fits(title) else None
    return None


def _heading(lines: list[str]) -> str | None:
    """Return the first line if it is a heading."""
    first, rest = lines[0].strip(), lines[1:]
    text = [line for line in rest if line.strip() and not _UNDERLINE.fullmatch(line)]
    if not text:
        return None
    marked = _MARKDOWN.fullmatch(first) or _BOLD.fullmatch(first)
    if marked is not None:
        title = marked["title"].strip(" \t*_`:")
        return title if _LETTER.search(title) and _fits(title) else None
    underlined = bool(rest) and _UNDERLINE.fullmatch(rest[0]) is not None
    return first if _is_heading(first) and (underlined or _heads(first, rest)) else None


def _is_heading(line: str) -> bool:
    """Return whether a line without markup looks like a heading and not like a sentence."""
    if not _LETTER.search(line) or _NO_HEADING.match(line) or not _fits(line) or line[0].islower():
        return False
    return line[-1] not in _SENTENCE_ENDS or _ABBREVIATION.search(line) is not None


def _heads(line: str, rest: list[str]) -> bool:
    """Return whether a text follows a line: after a blank line, or as a longer line that begins a sentence."""
    following = next(filter(str.strip, rest)).strip()
    if not rest[0].strip():
        return True
    return len(following) > len(line) and not following[0].islower()


def _fits(title: str) -> bool:
    """Return whether a text is short enough for a title."""
    if _HAN.search(title):
        return len(title) <= _LONGEST_HAN_HEADING
    return len(title) <= _LONGEST_HEADING and len(title.split()) <= _MOST_WORDS
