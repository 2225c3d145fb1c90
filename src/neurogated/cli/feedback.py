"""`feedback`: strengthen the edges among memories that were useful together."""

from __future__ import annotations

import argparse
import contextlib
from typing import cast

from neurogated.cli.arguments import add_dataset
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit
from neurogated.plasticity.plasticity_engine import Outcome, strength_of

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated feedback --dataset sample chunk-1f… chunk-9a…
  neurogated feedback --dataset sample chunk-1f… chunk-9a… --outcome fail
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("ids", nargs="+", help="ids of the memories, as ask shows them")
    parser.add_argument(
        "--outcome", default="success", metavar="OUTCOME", help="success (the default), fail, or a number from -1 to 1"
    )


def _outcome(text: str) -> float:
    with contextlib.suppress(ValueError):
        return strength_of(float(text))
    return strength_of(cast("Outcome", text))


def command(arguments: argparse.Namespace) -> int:
    """Learn from the outcome."""
    outcome = _outcome(arguments.outcome)
    with open_memory(arguments) as memory:
        count = memory.feedback(arguments.ids, outcome)
        emit(arguments, {"edges": count}, f"{count} edges {'strengthened or added' if outcome > 0 else 'weakened'}")
    return 0
