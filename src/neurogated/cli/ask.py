"""`ask`: what a question brings up, and why."""

from __future__ import annotations

import argparse
import sys

from neurogated.cli.arguments import add_dataset, add_top_n
from neurogated.cli.output import emit, recall_json, recall_text
from neurogated.cli.settings import open_memory, say_how_it_judges
from neurogated.viewer import explain, write_page

__all__ = ["EXAMPLES", "SUMMARY", "add_arguments", "command"]

SUMMARY = "show the memories that a question brings up, with scores, kernel and paths"
EXAMPLES = """\
  python main.py ask --dataset sample "Why did the lantern go dark?"
  python main.py ask --dataset sample "Why did the lantern go dark?" --explain why.html
  python main.py ask --save_dir my_agent --json "What came after the flood?" --top_n 5
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("question", help="the question")
    add_top_n(parser)
    parser.add_argument(
        "--explain",
        metavar="FILE",
        help="also write a page for the browser, FILE, that draws why each memory was remembered; it replaces FILE",
    )


def command(arguments: argparse.Namespace) -> int:
    """Ask the memory."""
    with open_memory(arguments) as memory:
        say_how_it_judges(memory)
        recall = memory.recall(arguments.question)
        if arguments.explain is not None:
            written = write_page(explain(memory, recall), arguments.explain)
            # Beside the output, so that what --json prints stays JSON.
            print(f"explained in {written}; open it in a browser", file=sys.stderr)
        emit(arguments, recall_json(recall), recall_text(memory, recall))
    return 0
