"""`consolidate`: make facts of the memories that are often used together."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_all_namespaces, add_dataset, time_of
from neurogated.cli.opening import graphs_of, open_memory
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated consolidate --dataset sample
  neurogated consolidate --save_dir my_agent --max_clusters 20 --json
  neurogated consolidate --save_dir my_agent --all_namespaces
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    add_all_namespaces(parser)
    parser.add_argument("--max_clusters", type=int, metavar="N", help="make at most N facts (default: no limit)")
    parser.add_argument("--now", metavar="TIME", help="the present time, in ISO format (default: now)")


def command(arguments: argparse.Namespace) -> int:
    """Make facts, and show their texts."""
    now = time_of(arguments, "now")
    facts = []
    with open_memory(arguments) as memory:
        least = memory.config.metabolism.consolidation_uses
        for name, graph in graphs_of(memory, arguments):
            made = graph.consolidate(now, max_clusters=arguments.max_clusters)
            nodes = graph.store.get_nodes(made, missing_ok=True)
            facts += [{"id": node.id, "content": node.content, "namespace": name} for node in nodes]
    lines = [f"facts made: {len(facts)}", *(f"\n{fact['id']}\n{fact['content']}" for fact in facts)]
    if not facts:
        lines.append(
            f"a fact needs linked memories that were each used {least} times or more, and that have no fact yet"
        )
    emit(arguments, {"facts": facts}, "\n".join(lines))
    return 0
