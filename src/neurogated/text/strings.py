"""Checks that every store and file can hold a text; composes and shortens texts; reads long ones while others run."""

import functools
import re
import textwrap
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from importlib import resources
from typing import Any, Protocol

from neurogated.errors import ConfigError, InputError

_LONGEST_IDENTIFIER = 63
"""Bytes of a name that PostgreSQL keeps, and the most characters of a Neo4j database's name."""
SECTION = 20_000
"""Characters of a long text that are read at a time. One call that read more would keep all other threads waiting."""


@functools.cache
def table_of(package: str, name: str) -> dict[str, Any]:
    """Return the table in the file `name.toml` of a package. All callers share it, so none may change it."""
    return tomllib.loads(resources.files(package).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


class _Pattern(Protocol):
    """A compiled regular expression, of either library."""

    def findall(self, string: str, /) -> list[Any]: ...
    def finditer(self, string: str, /) -> Iterable[Any]: ...


def checked_text(what: str, text: str) -> str:
    """Return `text`; raises InputError, which calls it `what`, if it is no string or has a lone surrogate."""
    # Most texts are ASCII, and each node has many.
    if type(text) is str and text.isascii():
        return text
    if not isinstance(text, str):
        raise InputError(f"{what} is {text!r}, but must be text")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{what} has a lone surrogate at character {error.start}; decode the source with errors='replace'"
        ) from None
    return text


def composed(text: str) -> str:
    """Return a text in Unicode's form NFC, as keys and what models read are, not what was said."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


_wait: ContextVar[Callable[[], None] | None] = ContextVar("neurogated_wait", default=None)


def give_way() -> None:
    """Let others run, if the work of this context should. Work on many texts calls this for each of them."""
    if (wait := _wait.get()) is not None:
        wait()


@contextmanager
def giving_way(wait: Callable[[], None] | None) -> Iterator[None]:
    """Run a block in which `give_way` calls `wait`; None for a block that holds what others wait for."""
    token = _wait.set(wait)
    try:
        yield
    finally:
        _wait.reset(token)


def matches(pattern: _Pattern, text: str) -> Iterable[str]:
    """Return the matches of a pattern without groups. In a long text they are found one by one; see `SECTION`."""
    return pattern.findall(text) if len(text) <= SECTION else _one_by_one(pattern, text)


def _one_by_one(pattern: _Pattern, text: str) -> Iterator[str]:
    for match in pattern.finditer(text):
        give_way()
        yield match[0]


def checked_name(what: str, name: str) -> str:
    """Return `name`, composed, if it is a non-empty string; raises InputError, which calls it `what`."""
    if type(name) is str and name and name.isascii():
        return name
    if not checked_text(what, name):
        raise InputError(f"{what} is empty; leave it out or give a name")
    return composed(name)


def checked_names(what: str, names: Iterable[str], *, exact: bool = False) -> tuple[str, ...]:
    """Return names, composed and with whole characters unless `exact`; raises InputError for anything else."""
    # Each node of a recall has several lists of names, and an instance check of an abstract class is slow.
    if type(names) not in (tuple, list) and (isinstance(names, str) or not isinstance(names, Iterable)):
        raise InputError(f"{what} is {names!r}, but must be a list of names")
    if type(names) is tuple and not names:
        return ()
    given: tuple[Any, ...] = tuple(names)
    if not given or (all(given) and set(map(type, given)) == {str} and "".join(given).isascii()):
        return given
    whole = given if exact else (halves_joined(name) if isinstance(name, str) else name for name in given)
    found = tuple(checked_name(f"one of {what}", name) for name in whole)
    return given if exact else found


def checked_identifier(what: str, name: str) -> str:
    """Return a name on a database server, which keeps only 63 bytes of it; raises ConfigError for a longer one."""
    size = len(name.encode("utf-8", "surrogatepass"))
    if size > _LONGEST_IDENTIFIER:
        raise ConfigError(
            f"{what} is {name!r}, a name of {size} bytes, but a database server keeps only {_LONGEST_IDENTIFIER} bytes "
            "of a name, and names that begin alike would be one; shorten it"
        )
    return name


_PASSWORD = re.compile(r"(?<=://)([^/\s:@]*):[^/\s]*@|(?<=[?&]password=)[^&\s]+")


def without_passwords(text: str) -> str:
    """Return a text with `***` in the place of every password in a URL."""
    return _PASSWORD.sub(lambda found: "***" if found[1] is None else f"{found[1]}:***@", text)


def ends_of(query: str, most: int) -> str:
    """Return a query of at most `most` characters: of a longer one its beginning and its end, where questions are."""
    if len(query) <= most:
        return query
    text, half = query.strip(), (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]} {text[-half:]}"


def one_line(text: str) -> str:
    """Return a text on one line without control characters, which may change a terminal or hide other text."""
    return "".join(filter(str.isprintable, " ".join(text.split())))


def beginning(text: str, most: int = 60) -> str:
    """Return a text on one line, shortened between words to at most this many characters."""
    return textwrap.shorten(one_line(text[: SECTION // 10]), most, placeholder=" …")


def html_table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return an HTML table for a notebook, in which every text is shown as it is; a cell of None is empty."""
    head = "".join(f"<th>{escape(one)}</th>" for one in headings)
    lines = [f"<tr>{head}</tr>"] if head else []
    for row in rows:
        cells = ("" if cell is None else escape(str(cell)) for cell in row)
        shown = "".join(f'<td style="text-align: left; white-space: pre-line">{cell}</td>' for cell in cells)
        lines.append(f"<tr>{shown}</tr>")
    return f"<table><caption>{escape(caption)}</caption>{''.join(lines)}</table>"


def is_blank(text: str) -> bool:
    """Return whether a text has only white space and marks of the byte order."""
    return not text.replace("\ufeff", " ").strip()


def repaired(text: str) -> str:
    """Return a text that every store can hold: halves of a character are joined, or else U+FFFD, as NUL is."""
    return text if text.isascii() and "\0" not in text else halves_joined(text).replace("\0", "\ufffd")


def repaired_text(what: str, text: object) -> str:
    """Return a text as every store can hold it; raises InputError, which calls it `what`, if it is no text."""
    if not isinstance(text, str):
        raise InputError(
            f"{what} is {text!r:.60}, but must be text, not {type(text).__name__}; decode or convert it first"
        )
    return repaired(text)


def halves_joined(text: str) -> str:
    """Return a text whose halves of characters are joined, or are U+FFFD if they stand alone."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
