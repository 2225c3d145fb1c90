"""`stats`: how much there is in a memory."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset
from neurogated.cli.output import emit
from neurogated.cli.settings import open_memory

__all__ = ["EXAMPLES", "SUMMARY", "add_arguments", "command"]

SUMMARY = "count nodes, edges by type, changes and judgements that wait"
EXAMPLES = """\
  python main.py stats --dataset sample --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)


def command(arguments: argparse.Namespace) -> int:
    """Print the counts."""
    with open_memory(arguments) as memory:
        stats = memory.stats()
    edges = ", ".join(f"{name} {count}" for name, count in stats["edges"].items()) or "none"
    lines = {**stats, "edges": edges}
    emit(arguments, stats, "\n".join(f"{name:<15} {value}" for name, value in lines.items()))
    return 0
