"""`delete`: delete memories."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset, add_user
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit
from neurogated.errors import ConfigError

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated delete --save_dir my_agent chunk-1f… chunk-9a…
  neurogated delete --save_dir my_agent --document doc-3c…
  neurogated delete --save_dir my_agent --user ana
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("ids", nargs="*", help="ids of the memories, as ask shows them")
    add_user(parser, "delete all memories of this user")
    parser.add_argument(
        "--document", metavar="ID", help="delete all memories of this document_id, which ask --json shows under found"
    )


def command(arguments: argparse.Namespace) -> int:
    """Delete and print how many memories were deleted."""
    if bool(arguments.ids) + (arguments.document is not None) + (arguments.user_id is not None) != 1:
        raise ConfigError("give either ids, --document or --user")
    with open_memory(arguments) as memory:
        if arguments.user_id is not None:
            count = memory.delete(user_id=arguments.user_id)
        elif arguments.ids:
            count = memory.delete(arguments.ids)
        else:
            count = memory.delete_document(arguments.document)
    emit(arguments, {"deleted": count}, f"{count} memories deleted")
    return 0
