"""`add`: remember a text."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from neurogated.cli.arguments import add_dataset, add_owner, add_times, owner_of, seconds, time_of
from neurogated.cli.opening import open_memory, say_how_it_judges
from neurogated.cli.output import emit
from neurogated.core.scope import Scope
from neurogated.errors import InputError
from neurogated.ingestion.document import Document, Passage

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated add --save_dir my_agent "The valve was replaced on Thursday." --title Repairs
  neurogated add --save_dir my_agent --file notes.txt
  neurogated add --save_dir my_agent "I moved to Lyon." --user ana --speaker Ana
  neurogated add --save_dir my_agent "We met." --timestamp 2027-01-31 --tag visit
  cat notes.txt | neurogated add --save_dir my_agent -
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("text", nargs="?", help="the text; - reads standard input")
    parser.add_argument("--file", metavar="FILE", help="a file with the text, in UTF-8")
    about = parser.add_argument_group("the text's")
    about.add_argument("--title", help="its subject")
    about.add_argument("--speaker", metavar="NAME", help="the person who said it")
    about.add_argument("--role", help="user, assistant, or another role")
    about.add_argument("--tag", metavar="TAG", action="append", default=[], help="may be given several times")
    about.add_argument(
        "--metadata", metavar="NAME=VALUE", action="append", default=[], help="your own value, JSON or text"
    )
    about.add_argument("--importance", type=float, metavar="N", help="0 to 1 (default: it is judged)")
    about.add_argument("--id", help="your own id; replaces the memory that has it")
    add_owner(about)
    add_times(parser)


def command(arguments: argparse.Namespace) -> int:
    """Add the text and print the ids of its nodes."""
    document = Document(
        (Passage(_text(arguments), speaker=arguments.speaker, role=arguments.role),),
        title=arguments.title,
        metadata=dict(map(_pair, arguments.metadata)),
        ttl=seconds(arguments),
        valid_from=time_of(arguments, "valid_from"),
        valid_to=time_of(arguments, "valid_to"),
        scope=Scope(**owner_of(arguments)),
        timestamp=time_of(arguments, "timestamp"),
        tags=tuple(arguments.tag),
        importance=arguments.importance,
        id=arguments.id,
    )
    with open_memory(arguments, create=True) as memory:
        say_how_it_judges(memory)
        (ids,) = memory.add_documents([document], progress=False)
        emit(arguments, {"ids": ids}, "\n".join(ids))
    return 0


def _pair(text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    if not (name.strip() and equals):
        raise InputError(f"--metadata takes NAME=VALUE, such as year=2027, but was given {text!r}")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value


def _text(arguments: argparse.Namespace) -> str:
    if (arguments.text is None) == (arguments.file is None):
        raise InputError("give either a text or --file")
    if arguments.file is None:
        return sys.stdin.read() if arguments.text == "-" else str(arguments.text)
    try:
        return Path(arguments.file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{arguments.file} cannot be read as UTF-8 text ({error})") from error
