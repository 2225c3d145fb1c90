"""`tiers`: print the tiers of a memory."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset, add_owner, owner_of
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated tiers --save_dir my_agent
  neurogated tiers --save_dir my_agent --user_id ana --top 20
"""
_TOP = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    add_owner(parser)
    parser.add_argument(
        "--top", type=int, default=_TOP, metavar="N", help=f"memories of the canvas to show (default: {_TOP})"
    )


def command(arguments: argparse.Namespace) -> int:
    """Print the counts and the memories of the most energy."""
    with open_memory(arguments) as memory:
        tiers = memory.tiers(**owner_of(arguments))
        top = tiers.canvas[: max(0, arguments.top)]
        texts = {node.id: node.content for node in memory.store.get_nodes([name for name, _ in top], missing_ok=True)}
    width = max(map(len, (*tiers.counts, *tiers.layers)))
    lines = [f"{name:<{width}}  {count}" for counts in (tiers.counts, tiers.layers) for name, count in counts.items()]
    lines.insert(len(tiers.counts), "")
    lines += ["", *(f"{energy:.3f}  {name}  {' '.join(texts.get(name, '').split())}" for name, energy in top)]
    shown = {
        "at": tiers.at.isoformat(),
        "counts": dict(tiers.counts),
        "layers": dict(tiers.layers),
        "canvas": [{"id": name, "energy": energy, "content": texts.get(name)} for name, energy in top],
    }
    emit(arguments, shown, "\n".join(lines).rstrip())
    return 0
