"""`check`: examine a memory for damage."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated check --save_dir my_agent
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)


def command(arguments: argparse.Namespace) -> int:
    """Check the memory and print its problems."""
    with open_memory(arguments) as memory:
        problems = memory.check()
    emit(arguments, {"problems": problems}, "\n".join(problems) or "the memory is sound")
    return 1 if problems else 0
