"""`migrate`: change the embedding model."""

from __future__ import annotations

import argparse

from neurogated.administration import migrate
from neurogated.cli.arguments import add_dataset
from neurogated.cli.opening import memory_config
from neurogated.cli.output import emit

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated migrate --save_dir my_agent --embedding_name all-MiniLM-L6-v2
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)


def command(arguments: argparse.Namespace) -> int:
    """Migrate and print how many texts were embedded."""
    config = memory_config(arguments)
    texts = migrate(config)
    if texts:
        text = f"{texts} texts have vectors of {config.embedding_name} now"
    else:
        text = f"the memory has vectors of {config.embedding_name} already"
    emit(arguments, {"texts": texts}, text)
    return 0
