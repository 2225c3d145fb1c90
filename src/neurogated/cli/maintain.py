"""`maintain`: remove expired memories and decay idle edges."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_all_namespaces, add_dataset, time_of
from neurogated.cli.opening import graphs_of, open_memory
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated maintain --dataset sample
  neurogated maintain --save_dir my_agent --now 2027-01-31T12:00:00+00:00
  neurogated maintain --save_dir my_agent --all_namespaces
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    add_all_namespaces(parser)
    parser.add_argument("--now", metavar="TIME", help="the present time, in ISO format (default: now)")


def command(arguments: argparse.Namespace) -> int:
    """Remove expired memories, and decay idle edges."""
    now = time_of(arguments, "now")
    removed = expired = 0
    with open_memory(arguments) as memory:
        for _, graph in graphs_of(memory, arguments):
            last = graph.store.view().sequence
            removed += graph.maintenance(now)
            expired += sum(entry.changes.get("nodes removed", 0) for entry in graph.history() if entry.sequence > last)
    text = f"{expired} expired memories removed; idle edges decayed, {removed} of them were removed"
    emit(arguments, {"expired": expired, "removed": removed}, text)
    return 0
