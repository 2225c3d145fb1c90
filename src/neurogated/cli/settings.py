"""`settings`: list the settings with their values and defaults."""

from __future__ import annotations

import argparse
import textwrap

from neurogated.cli.opening import config_of
from neurogated.cli.output import emit
from neurogated.config.memory_config import MemoryConfig
from neurogated.config.setting import settings_of, value_of

__all__ = ["EXAMPLES", "add_arguments", "command", "markdown"]

EXAMPLES = """\
  neurogated settings
  neurogated settings retrieval
  neurogated settings TOP_N_RETRIEVAL --config settings.yaml
"""
_WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    parser.add_argument("--markdown", action="store_true", help="print the table of docs/settings.md")
    parser.add_argument("word", nargs="?", default="", help="only settings with this word in their name")


def command(arguments: argparse.Namespace) -> int:
    """Print name, value, default and help of each setting."""
    config = config_of(arguments)
    wanted = [found for found in settings_of(MemoryConfig) if arguments.word.lower() in found.name.lower()]
    values = {found.name: value_of(config, found.name) for found in wanted}
    if arguments.markdown:
        print(markdown())
        return 0
    # A name such as "all-MiniLM-L6-v2" stays on one line.
    wrapper = textwrap.TextWrapper(_WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    lines: list[str] = []
    for found in wanted:
        value = values[found.name]
        changed = "" if value == found.spec.default else f" (default: {found.default})"
        lines += [f"{found.name} = {'none' if value is None else value}{changed}"]
        lines += wrapper.wrap(found.spec.metadata["help"])
    emit(arguments, values, "\n".join(lines) or f"no setting has {arguments.word!r} in its name")
    return 0


def markdown() -> str:
    """Return all settings as a table in Markdown."""
    rows = (
        f"| `{found.name}` | `{found.default}` | {found.spec.metadata['help'].replace('|', '/')} |"
        for found in settings_of(MemoryConfig)
    )
    return "\n".join(["| setting | default | effect |", "|---|---|---|", *rows])
