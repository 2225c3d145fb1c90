"""`restore`: make a memory from a snapshot."""

from __future__ import annotations

import argparse

from neurogated.administration import restore_snapshot
from neurogated.cli.arguments import add_dataset
from neurogated.cli.opening import memory_config
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated restore --save_dir new_agent my_agent.snapshot
  neurogated restore --save_dir my_agent my_agent.snapshot --replace
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("file", help="the snapshot")
    parser.add_argument("--replace", action="store_true", help="replace the memory that is there")


def command(arguments: argparse.Namespace) -> int:
    """Restore and print the folder."""
    config = memory_config(arguments)
    restore_snapshot(config, arguments.file, replace=arguments.replace)
    emit(arguments, {"save_dir": str(config.save_dir)}, f"the memory in {config.save_dir} is that of {arguments.file}")
    return 0
