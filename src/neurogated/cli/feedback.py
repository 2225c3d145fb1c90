"""`feedback`: strengthen the edges among memories that were useful together."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset, add_outcome, outcome_of
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated feedback --dataset sample chunk-1f… chunk-9a…
  neurogated feedback --dataset sample chunk-1f… chunk-9a… --outcome fail
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("ids", nargs="+", help="ids of the memories, as ask shows them")
    add_outcome(parser, default="success", shown="success (the default), fail, or a number from -1 to 1")


def command(arguments: argparse.Namespace) -> int:
    """Learn from the outcome."""
    outcome = outcome_of(arguments) or 0.0
    with open_memory(arguments) as memory:
        count = memory.feedback(arguments.ids, outcome)
        emit(arguments, {"edges": count}, f"{count} edges {'strengthened or added' if outcome > 0 else 'weakened'}")
    return 0
