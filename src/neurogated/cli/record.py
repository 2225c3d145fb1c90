"""`record`: remember a decision or an action of the agent with its outcome, and learn from it."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset, add_outcome, add_owner, outcome_of, owner_of, time_of
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated record --save_dir my_agent "Booked the train to Lyon." --outcome success --used chunk-1f… turn-9a…
  neurogated record --save_dir my_agent "Called the plumber." --user ana
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("event", help="the decision or action, in words")
    add_outcome(parser, default=None, shown="success, fail, or a number from -1 to 1; unknown when left out")
    parser.add_argument("--used", nargs="+", metavar="ID", default=[], help="ids of the memories that it used")
    add_owner(parser)
    parser.add_argument("--timestamp", metavar="TIME", help="when it happened, in ISO format")


def command(arguments: argparse.Namespace) -> int:
    """Record the event and print the ids of its memories."""
    outcome, timestamp = outcome_of(arguments), time_of(arguments, "timestamp")
    with open_memory(arguments, create=True) as memory:
        ids = memory.record_event(
            arguments.event, outcome=outcome, used=arguments.used, timestamp=timestamp, **owner_of(arguments)
        )
    emit(arguments, {"ids": ids}, "\n".join(ids))
    return 0
