"""`namespaces`: list the graphs of a memory, or remove one."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated namespaces --save_dir my_agent
  neurogated namespaces --save_dir my_agent --drop bob
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("--drop", metavar="NAME", help="remove the graph of this name; this cannot be undone")


def command(arguments: argparse.Namespace) -> int:
    """Drop a graph if asked to, and print the names of the graphs."""
    with open_memory(arguments) as memory:
        if arguments.drop is not None:
            memory.drop_namespace(arguments.drop)
        names = memory.namespaces()
    emit(arguments, {"namespaces": names}, "\n".join(names))
    return 0
