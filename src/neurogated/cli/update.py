"""`update`: replace the text of a memory; the history keeps the old version."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset, add_times, seconds, time_of
from neurogated.cli.opening import open_memory, say_how_it_judges
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated update --save_dir my_agent chunk-1f… "The valve was replaced on Friday."
  neurogated update --save_dir my_agent chunk-1f… --title Repairs --valid_to 2027-01-31T12:00:00
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("id", help="id of the memory, as ask shows it")
    parser.add_argument("text", nargs="?", help="its new text; unchanged when left out")
    parser.add_argument("--title", help="its new subject")
    add_times(parser)


def command(arguments: argparse.Namespace) -> int:
    """Update and print the new text."""
    begin, end, ttl = time_of(arguments, "valid_from"), time_of(arguments, "valid_to"), seconds(arguments)
    with open_memory(arguments) as memory:
        say_how_it_judges(memory)
        node = memory.update(
            arguments.id,
            arguments.text,
            title=arguments.title,
            valid_from=begin,
            valid_to=end,
            ttl=ttl,
            timestamp=time_of(arguments, "timestamp"),
        )
    told = {"id": node.id, "content": node.content, "title": node.title, "metadata": dict(node.metadata)}
    told["found"] = node.found.to_json()
    emit(arguments, told, node.content)
    return 0
