"""`snapshot`: a copy of a memory in one file, while it is in use."""

from __future__ import annotations

import argparse
from pathlib import Path

from neurogated.cli.arguments import add_dataset
from neurogated.cli.output import emit
from neurogated.cli.settings import open_memory
from neurogated.core.ports import SupportsSnapshot
from neurogated.errors import ConfigError

__all__ = ["EXAMPLES", "SUMMARY", "add_arguments", "command"]

SUMMARY = "copy the memory, with all namespaces, to one file; 'restore' makes a memory of it again"
EXAMPLES = """\
  python main.py snapshot --save_dir my_agent my_agent.snapshot
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("file", help="where to")


def command(arguments: argparse.Namespace) -> int:
    """Copy."""
    with open_memory(arguments) as memory:
        if not isinstance(memory.store, SupportsSnapshot):
            raise ConfigError(f"a {type(memory.store).__name__} cannot be copied while in use; use 'export'")
        memory.store.snapshot(Path(arguments.file))
    emit(arguments, {"file": arguments.file}, f"the memory as it is now was written to {arguments.file}")
    return 0
