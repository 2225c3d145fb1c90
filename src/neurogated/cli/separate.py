"""`separate`: separate a memory from those that say the same."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated separate chunk-1f… --save_dir my_agent
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    parser.add_argument("id", help="the id of the memory; 'list' shows which ones say the same")
    add_dataset(parser)


def command(arguments: argparse.Namespace) -> int:
    """Separate a memory and print from which others."""
    with open_memory(arguments) as memory:
        others = memory.same_as(arguments.id)
        was_linked = memory.separate(arguments.id)
    told = f"separated from {', '.join(others)}" if was_linked else "no other memory says the same; nothing changed"
    emit(arguments, {"id": arguments.id, "separated": was_linked, "from": others if was_linked else []}, told)
    return 0
