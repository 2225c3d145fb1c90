"""`stats`: print the statistics of a memory."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from neurogated.cli.arguments import add_dataset
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated stats --dataset sample --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)


def command(arguments: argparse.Namespace) -> int:
    """Print the statistics."""
    with open_memory(arguments) as memory:
        stats = memory.stats()
    width = max(map(len, stats))
    emit(arguments, stats, "\n".join(f"{name:<{width}}  {_text(value)}" for name, value in stats.items()))
    return 0


def _text(value: object) -> str:
    """Return a figure, a name or a list as text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_text(part)}" for name, part in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if value is None:
        return "none"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
