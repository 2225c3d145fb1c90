"""`import`: read an export into a memory."""

from __future__ import annotations

import argparse

from neurogated.administration import import_memory
from neurogated.cli.arguments import add_dataset
from neurogated.cli.opening import memory_config
from neurogated.cli.output import emit, manifest_json, manifest_line

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated import --save_dir new_agent my_agent.export
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("folder", help="folder that 'export' wrote")


def command(arguments: argparse.Namespace) -> int:
    """Import and print the counts."""
    config = memory_config(arguments)
    manifest = import_memory(config, arguments.folder)
    emit(arguments, manifest_json(manifest), f"imported into {config.save_dir}: {manifest_line(manifest)}")
    return 0
