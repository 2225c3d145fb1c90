"""`compact`: erase deleted and expired memories from the file."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated compact --save_dir my_agent
  neurogated compact --save_dir my_agent --history
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument(
        "--history", action="store_true", help="also erase the texts that memories had before they were updated"
    )
    parser.add_argument(
        "--forget", metavar="PLACE", action="append", default=[], help="a server or file with copies that is gone"
    )


def command(arguments: argparse.Namespace) -> int:
    """Compact and print how many memories were erased."""
    with open_memory(arguments) as memory:
        erased = memory.compact(history=arguments.history, forget=arguments.forget)
    emit(arguments, {"erased": erased}, f"{erased} memories erased for good")
    return 0
