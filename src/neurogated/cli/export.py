"""`export`: write a memory to a folder of plain files."""

from __future__ import annotations

import argparse

from neurogated.administration import export_memory, export_user
from neurogated.cli.arguments import add_dataset, add_user
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit, manifest_json, manifest_line

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated export --save_dir my_agent my_agent.export
  neurogated export --save_dir my_agent --user ana ana.jsonl
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("folder", help="new folder, or new file with --user; it must not exist")
    add_user(parser, "export only this user, to a file of JSON lines")


def command(arguments: argparse.Namespace) -> int:
    """Export and print the counts."""
    with open_memory(arguments) as memory:
        if arguments.user_id is not None:
            count = export_user(memory, arguments.user_id, arguments.folder)
            emit(arguments, {"memories": count}, f"exported to {arguments.folder}: {count} memories")
            return 0
        manifest = export_memory(memory, arguments.folder)
    emit(arguments, manifest_json(manifest), f"exported to {arguments.folder}: {manifest_line(manifest)}")
    return 0
