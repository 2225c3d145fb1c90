"""`resolve`: give a conflict an outcome."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset
from neurogated.cli.conflicts import json_of, line_of
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated resolve --save_dir my_agent conflict-3609519c4cad608024b67518934a2719 --keep both
  neurogated resolve --save_dir my_agent conflict-3609519c4cad608024b67518934a2719 --keep supersede --because moved
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    parser.add_argument("conflict", metavar="CONFLICT", help="the id of the conflict; 'conflicts' lists them")
    add_dataset(parser)
    parser.add_argument(
        "--keep", required=True, metavar="WHICH", help="the id of the right memory, or 'both', or 'supersede'"
    )
    parser.add_argument("--because", metavar="TEXT", help="the reason")


def command(arguments: argparse.Namespace) -> int:
    """Resolve a conflict."""
    with open_memory(arguments) as memory:
        resolved = memory.resolve(arguments.conflict, arguments.keep, because=arguments.because)
        emit(arguments, json_of(resolved), line_of(resolved))
    return 0
