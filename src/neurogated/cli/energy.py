"""`energy`: draw the past and the forecast of a memory's energy."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset, checked_days
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated energy 4f1c --save_dir my_agent
  neurogated energy 4f1c --save_dir my_agent --days 30
"""
_DAYS, _STEPS, _BAR = 180.0, 12, 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    parser.add_argument("id", help="the id of the memory")
    add_dataset(parser)
    parser.add_argument(
        "--days", type=float, default=_DAYS, metavar="N", help=f"days of past and of forecast (default: {_DAYS:g})"
    )


def command(arguments: argparse.Namespace) -> int:
    """Print one line for each time."""
    step = checked_days(arguments.days) / _STEPS
    with open_memory(arguments) as memory:
        course = memory.energy_course(arguments.id, steps=_STEPS, step=step)
    # The forecast follows the present.
    now = course[-1 - _STEPS].at
    lines = [
        f"{point.at:%Y-%m-%d}  {point.energy:.3f}  {'#' * round(point.energy * _BAR):<{_BAR}}"
        f"{'  now' if point.at == now else ''}".rstrip()
        for point in course
    ]
    shown = [{"at": point.at.isoformat(), "energy": point.energy} for point in course]
    emit(arguments, {"id": arguments.id, "now": now.isoformat(), "course": shown}, "\n".join(lines))
    return 0
