"""`history`: list the changes of a memory with their times and reasons."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit, history_json, history_line

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated history --dataset sample
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("--last", type=int, metavar="N", help="show only the last N changes")


def command(arguments: argparse.Namespace) -> int:
    """Print the history."""
    with open_memory(arguments) as memory:
        entries = memory.history()
    if arguments.last is not None:
        entries = entries[max(0, len(entries) - arguments.last) :]
    text = "\n".join(map(history_line, entries)) or "nothing has happened yet"
    emit(arguments, [history_json(entry) for entry in entries], text)
    return 0
