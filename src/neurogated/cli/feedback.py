"""`feedback`: strengthen the edges among memories that were useful together."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated feedback --dataset sample chunk-1f… chunk-9a…
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("ids", nargs="+", help="ids of the memories, as ask shows them")


def command(arguments: argparse.Namespace) -> int:
    """Learn from success."""
    with open_memory(arguments) as memory:
        count = memory.feedback(arguments.ids)
        emit(arguments, {"edges": count}, f"{count} edges strengthened or added")
    return 0
