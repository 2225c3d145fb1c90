"""`add`: remember a text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from neurogated.cli.arguments import add_dataset, add_owner, add_times, owner_of, seconds, time_of
from neurogated.cli.opening import open_memory, say_how_it_judges
from neurogated.cli.output import emit
from neurogated.errors import InputError

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated add --save_dir my_agent "The valve was replaced on Thursday." --title Repairs
  neurogated add --save_dir my_agent --file notes.txt
  neurogated add --save_dir my_agent "The code of the gate is 4711 today." --ttl 86400
  neurogated add --save_dir my_agent "I moved to Lyon." --user_id ana
  cat notes.txt | neurogated add --save_dir my_agent -
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("text", nargs="?", help="the text; - reads standard input")
    parser.add_argument("--file", metavar="FILE", help="a file with the text, in UTF-8")
    parser.add_argument("--title", help="the subject of the text")
    add_times(parser)
    add_owner(parser)


def command(arguments: argparse.Namespace) -> int:
    """Add the text and print the ids of its nodes."""
    text = _text(arguments)
    begin, end, ttl = time_of(arguments, "valid_from"), time_of(arguments, "valid_to"), seconds(arguments)
    with open_memory(arguments, create=True) as memory:
        say_how_it_judges(memory)
        ids = memory.add_document(
            text, title=arguments.title, ttl=ttl, valid_from=begin, valid_to=end, **owner_of(arguments)
        )
        emit(arguments, {"ids": ids}, "\n".join(ids))
    return 0


def _text(arguments: argparse.Namespace) -> str:
    if (arguments.text is None) == (arguments.file is None):
        raise InputError("give either a text or --file")
    if arguments.file is None:
        return sys.stdin.read() if arguments.text == "-" else str(arguments.text)
    try:
        return Path(arguments.file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{arguments.file} cannot be read as UTF-8 text ({error})") from error
