"""`ask`: show the memories that answer a question, and why."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime

from neurogated.cli.arguments import add_dataset, add_owner, add_top_n, owner_of, time_of
from neurogated.cli.opening import open_memory, say_how_it_judges
from neurogated.cli.output import emit, recall_json, recall_text
from neurogated.viewer import explain, write_page

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated ask --dataset sample "Why did the lantern go dark?"
  neurogated ask --dataset sample "Why did the lantern go dark?" --explain why.html
  neurogated ask --save_dir my_agent --json "What came after the flood?" --top_n 5
  neurogated ask --save_dir my_agent "Who keeps the lantern?" --as_of 2027-01-31T12:00:00
  neurogated ask --save_dir my_agent "Where do I live?" --user ana
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("question", help="the question")
    add_top_n(parser)
    add_owner(parser)
    parser.add_argument(
        "--as_of",
        metavar="N|TIME",
        help="answer from the graph after the change number N, as history shows it, or at a time in ISO format",
    )
    parser.add_argument("--valid_at", metavar="TIME", help="answer with facts that held at this time, in ISO format")
    parser.add_argument(
        "--explain",
        metavar="FILE",
        help="also write FILE, a page for the browser that draws why each memory was remembered; it replaces FILE",
    )


def command(arguments: argparse.Namespace) -> int:
    """Ask the memory."""
    as_of, valid_at = _as_of(arguments), time_of(arguments, "valid_at")
    with open_memory(arguments) as memory:
        say_how_it_judges(memory)
        recall = memory.recall(arguments.question, as_of=as_of, valid_at=valid_at, **owner_of(arguments))
        store = memory.store if as_of is None else memory.store.as_of(as_of)
        if arguments.explain is not None:
            written = write_page(explain(memory, recall, store), arguments.explain)
            # To standard error, so that --json prints only JSON.
            print(f"explained in {written}; open it in a browser", file=sys.stderr)
        emit(arguments, recall_json(recall), recall_text(store, recall))
    return 0


def _as_of(arguments: argparse.Namespace) -> int | datetime | None:
    text = arguments.as_of
    return int(text) if text is not None and text.isdecimal() else time_of(arguments, "as_of")
