"""The commands, read from `commands.txt`: modules with their themes, below them commands, below these examples."""

from pathlib import Path
from typing import NamedTuple

__all__ = ["COMMANDS", "Entry"]


class Entry(NamedTuple):
    """What the help says about a command."""

    module: str
    """The module of `cli` that has the command. It is imported when the command is called, so help is fast."""
    theme: str
    summary: str
    examples: list[str]


def _read() -> dict[str, Entry]:
    commands: dict[str, Entry] = {}
    module = theme = name = ""
    for line in Path(__file__).with_name("commands.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("    "):
            commands[name].examples.append(line.strip())
        elif line.startswith("  "):
            name, _, summary = line.strip().partition(": ")
            commands[name] = Entry(module, theme, summary, [])
        else:
            module, _, theme = line.partition(" ")
    return commands


COMMANDS = _read()
