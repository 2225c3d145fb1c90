"""`snapshot`: copy a memory in use to one file."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated snapshot --save_dir my_agent my_agent.snapshot
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("file", help="file to write")


def command(arguments: argparse.Namespace) -> int:
    """Write the snapshot."""
    with open_memory(arguments) as memory:
        memory.snapshot(arguments.file)
    emit(arguments, {"file": arguments.file}, f"wrote a snapshot of the memory to {arguments.file}")
    return 0
