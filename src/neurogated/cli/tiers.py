"""`tiers`: print the tiers of a memory."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset, add_owner, checked_days, owner_of
from neurogated.cli.opening import open_memory
from neurogated.cli.output import NOTHING_FOUND, emit
from neurogated.viewer import render_tiers, write_page

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated tiers --save_dir my_agent
  neurogated tiers --save_dir my_agent --user ana --top 20
  neurogated tiers --save_dir my_agent --page tiers.html --days 90
"""
_TOP, _DAYS, _STEPS = 5, 180.0, 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    add_owner(parser)
    parser.add_argument(
        "--top", type=int, default=_TOP, metavar="N", help=f"memories with the most energy to show (default: {_TOP})"
    )
    parser.add_argument("--page", metavar="FILE", help="also write a page that shows the tiers over time")
    parser.add_argument(
        "--days",
        type=float,
        default=_DAYS,
        metavar="N",
        help=f"days of past and of forecast on it (default: {_DAYS:g})",
    )


def command(arguments: argparse.Namespace) -> int:
    """Print the counts and the memories of the most energy."""
    with open_memory(arguments) as memory:
        tiers = memory.tiers(**owner_of(arguments))
        top = tiers.most_energy[: max(0, arguments.top)]
        texts = {node.id: node.content for node in memory.store.get_nodes([name for name, _ in top], missing_ok=True)}
        if arguments.page:
            step = checked_days(arguments.days) / _STEPS
            course = memory.tiers_course(tiers.at, steps=_STEPS, step=step, **owner_of(arguments))
            written = write_page(render_tiers(course, tiers, texts), arguments.page)
    width = max(map(len, (*tiers.counts, *tiers.layers)))
    lines = [f"{name:<{width}}  {count}" for counts in (tiers.counts, tiers.layers) for name, count in counts.items()]
    lines.insert(len(tiers.counts), "")
    lines += [] if any(tiers.counts.values()) else ["", NOTHING_FOUND]
    lines += [
        "",
        f"{tiers.energy:.3f}  mean energy",
        *(f"{energy:.3f}  {name}  {' '.join(texts.get(name, '').split())}" for name, energy in top),
    ]
    shown: dict[str, object] = {
        "at": tiers.at.isoformat(),
        "counts": dict(tiers.counts),
        "layers": dict(tiers.layers),
        "energy": tiers.energy,
        "most_energy": [{"id": name, "energy": energy, "content": texts.get(name)} for name, energy in top],
    }
    if arguments.page:
        lines.append(f"\nthe tiers over time: {written}")
        shown["page"] = str(written)
    emit(arguments, shown, "\n".join(lines).rstrip())
    return 0
