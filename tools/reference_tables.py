"""Write what follows from the code in docs: settings, the flags of every command, and the operations of expressions.

python tools/reference_tables.py
"""

from pathlib import Path
from typing import cast

import click

from neurogated import MemoryConfig
from neurogated.cli.app import COMMANDS, PROGRAM
from neurogated.config.setting import settings_of
from neurogated.operations import EXPRESSIONS, REQUIRED
from neurogated.sexpr.check import TYPES

DOCS = Path(__file__).parents[1] / "docs"


def settings() -> str:
    """Return all settings as a table in Markdown."""
    helps = {found: found.spec.metadata["help"].replace("|", r"\|") for found in settings_of(MemoryConfig)}
    rows = (f"| `{found.name}` | `{found.default}` | {text} |" for found, text in helps.items())
    return "\n".join(["| setting | default | effect |", "|---|---|---|", *rows])


def command_of(name: str) -> click.Command:
    """Return the command of the overview with this name."""
    return cast("click.Command", PROGRAM.get_command(click.Context(PROGRAM), name))


def flags_of(command: click.Command) -> set[str]:
    """Return the flags that the help of a command shows."""
    options = (one for one in command.params if isinstance(one, click.Option) and not one.hidden)
    return {flag for one in options for flag in one.opts}


def commands() -> str:
    """Return all commands with the flags of their own as a table in Markdown, and the flags of every command."""
    flags = {name: flags_of(command_of(name)) for name in COMMANDS if name != "bench"}
    common = set.intersection(
        *(found for name, found in flags.items() if name not in {"demo", "settings", "bench run"})
    )
    rows = (
        f"| `{name}` | {COMMANDS[name].summary} | {', '.join(f'`{flag}`' for flag in sorted(found - common))} |"
        for name, found in flags.items()
    )
    every = ", ".join(f"`{flag}`" for flag in sorted(common))
    return "\n".join(["| command | effect | flags |", "|---|---|---|", *rows, f"| every command | | {every} |"])


def operations() -> str:
    """Return the page of all operations of expressions in Markdown."""
    lines = ["# Operations of expressions", "", "[Expressions](how-to/expressions.md) says how to use them.", ""]
    for one in EXPRESSIONS.values():
        lines += [f"### `{one.signature}`", "", f"{one.summary[:1].upper()}{one.summary[1:]}.", ""]
        for argument in one.parameters:
            words = TYPES[argument.type].words if argument.type in TYPES else "an operation"
            default = "" if argument.default in (REQUIRED, None, []) else f"; default: {argument.default}"
            lines.append(f"* `{argument.name}`: {words}{default}")
        lines += ["", "```lisp", one.example, "```", ""]
    return "\n".join(lines)


TABLES = {"settings.md": settings, "reference.md": commands}


def replaced(text: str, table: str) -> str:
    """Return the text with the table in the place of its own table with the same heading."""
    heading = table.splitlines()[0]
    before, _, rest = text.partition(heading)
    left = rest.splitlines()[1:]
    after = next((place for place, line in enumerate(left) if not line.startswith("|")), len(left))
    return "\n".join((f"{before}{table}", *left[after:], ""))


if __name__ == "__main__":
    (DOCS / "operations.md").write_text(operations(), encoding="utf-8")
    for name, table in TABLES.items():
        page = DOCS / name
        page.write_text(replaced(page.read_text(encoding="utf-8"), table()), encoding="utf-8")
