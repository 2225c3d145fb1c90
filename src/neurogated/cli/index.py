"""`index`: add a data set to its memory, or retry the pending judgements."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset, add_dataset_folder, add_format
from neurogated.cli.data import dataset_of
from neurogated.cli.opening import open_memory, say_how_it_judges
from neurogated.cli.output import emit
from neurogated.errors import ConfigError
from neurogated.evaluation.runner import index

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated index --dataset sample
  neurogated index --dataset sample --resume
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    add_dataset_folder(parser)
    add_format(parser)
    parser.add_argument(
        "--resume",
        action="store_true",
        help="retry the judgements that a failing language model left pending; index nothing",
    )


def command(arguments: argparse.Namespace) -> int:
    """Index, or resume."""
    if not arguments.dataset and not arguments.resume:
        raise ConfigError("index needs --dataset; single texts are added with 'add'")
    dataset = None if arguments.resume else dataset_of(arguments)
    with open_memory(arguments, create=not arguments.resume, from_scratch=not arguments.resume) as memory:
        say_how_it_judges(memory)
        memories = [memory] if dataset is None else index(dataset, memory)
        made = [one.resume() for one in memories] if arguments.resume else []
        counts = {
            "nodes": sum(int(one.stats()["nodes"]) for one in memories),
            "judged": sum(done for done, _ in made),
            "pending": sum(int(one.stats()["pending"]) for one in memories),
        }
        emit(arguments, counts, ", ".join(f"{count} {what}" for what, count in counts.items()))
    return 0
