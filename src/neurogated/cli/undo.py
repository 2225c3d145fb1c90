"""`undo`: take back changes."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit, history_json, history_line

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated undo --dataset sample
  neurogated undo --dataset sample --to 12
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("--to", type=int, metavar="N", help="number of the last change to keep, as history shows it")


def command(arguments: argparse.Namespace) -> int:
    """Undo and print the change."""
    with open_memory(arguments) as memory:
        entry = memory.undo(arguments.to)
    if entry is None:
        emit(arguments, None, "there is nothing to take back")
    else:
        emit(arguments, history_json(entry), history_line(entry))
    return 0
