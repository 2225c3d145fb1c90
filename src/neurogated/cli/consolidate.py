"""`consolidate`: make facts of the memories that are often used together."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset, time_of
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated consolidate --dataset sample
  neurogated consolidate --save_dir my_agent --max_clusters 20 --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("--max_clusters", type=int, metavar="N", help="make at most N facts (default: no limit)")
    parser.add_argument("--now", metavar="TIME", help="the present time, in ISO format (default: now)")


def command(arguments: argparse.Namespace) -> int:
    """Make facts, and show their texts."""
    now = time_of(arguments, "now")
    with open_memory(arguments) as memory:
        made = memory.consolidate(now, max_clusters=arguments.max_clusters)
        facts = [{"id": node.id, "content": node.content} for node in memory.store.get_nodes(made)]
    lines = [f"{len(facts)} facts made", *(f"\n{fact['id']}\n{fact['content']}" for fact in facts)]
    emit(arguments, {"facts": facts}, "\n".join(lines))
    return 0
