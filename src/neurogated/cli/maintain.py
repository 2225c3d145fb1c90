"""`maintain`: let what lies idle fade."""

from __future__ import annotations

import argparse
from datetime import datetime

from neurogated.cli.arguments import add_dataset
from neurogated.cli.output import emit
from neurogated.cli.settings import open_memory
from neurogated.errors import ConfigError

__all__ = ["EXAMPLES", "SUMMARY", "add_arguments", "command"]

SUMMARY = "let the edges that nothing uses fade by one round; similarity never does"
EXAMPLES = """\
  python main.py maintain --dataset sample
  python main.py maintain --save_dir my_agent --now 2027-01-31T12:00:00+00:00
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("--now", metavar="TIME", help="the time that counts as present, in ISO format (default: now)")


def command(arguments: argparse.Namespace) -> int:
    """Decay."""
    try:
        now = None if arguments.now is None else datetime.fromisoformat(arguments.now)
    except ValueError:
        raise ConfigError(f"--now is {arguments.now!r}, but must be a time such as 2027-01-31T12:00:00") from None
    with open_memory(arguments) as memory:
        removed = memory.maintenance(now)
        emit(arguments, {"removed": removed}, f"idle edges faded; {removed} of them are gone")
    return 0
