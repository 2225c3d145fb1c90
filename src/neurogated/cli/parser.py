"""Commands and the flags that all of them take."""

from __future__ import annotations

import argparse
import importlib
import keyword
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, cast

import neurogated
from neurogated.cli.logs import LEVELS
from neurogated.config.memory_config import MemoryConfig
from neurogated.config.setting import Setting, parse_bool, settings_of
from neurogated.errors import ConfigError

__all__ = ["BENCH", "COMMANDS", "DEFAULT_WORDS", "build_parser", "complete_switches"]

COMMANDS = {
    "Remember and ask": {
        "add": "remember a text, a file, or standard input",
        "ask": "show the memories that answer a question, with scores, kernel and paths",
        "context": "print the memories that help with a task, within a budget of tokens",
        "list": "list the memories, oldest first, page by page",
        "chat": "talk with a memory: each answer shows its memories and their paths",
        "update": "replace the text of a memory; the history keeps the old version",
        "delete": "delete memories or a document; 'compact' then erases them from the file",
        "facts": "list the facts, or state one; write them into an SQL table",
        "record": "remember a decision with its outcome; learn from it",
        "conflicts": "list the contradictions, with the questions to ask",
        "resolve": "say which memory of a conflict is right",
        "separate": "separate a memory from those that say the same",
        "feedback": "say which memories were useful together, or were not; edges grow stronger or weaker",
    },
    "Inspect": {
        "demo": "answer a question on sample data and explain it in the browser",
        "history": "list the changes, with their times and reasons",
        "tiers": "count the memories of each tier; show those with the most energy",
        "energy": "draw the energy of a memory, its past and its forecast",
        "stats": "count nodes, edges and changes; show size on disk, use of caches and language model",
        "namespaces": "list the graphs of a memory, or remove one with its history",
        "settings": "list the settings, with their values and defaults",
        "doctor": "check the installation, and say how to repair it",
    },
    "Maintain": {
        "maintain": "remove expired memories and decay idle edges; similarity never decays",
        "consolidate": "make facts of the memories that are often used together",
        "undo": "take back the last change, or all changes after a numbered one",
        "compact": "erase deleted and expired memories from the file, with their history; empty the caches",
        "check": "examine the files of a memory for damage; exit code 1 if there is any",
    },
    "Move and measure": {
        "snapshot": "copy the memory, with all namespaces, to one file",
        "restore": "make a memory from a snapshot",
        "export": "write the memory, with its history, to a folder of plain files",
        "import": "read an export into the memory, completely or not at all",
        "migrate": "re-embed every text with the model of --embedding_name; run again to continue",
        "index": "read a data set into its memory without asking its questions",
        "bench": "measure recall on a data set",
    },
}
"""Each command and its summary, by heading. Calling a command imports its module, so help is fast."""
BENCH = {
    "run": "index a data set, ask its questions, measure recall (the default)",
}
"""The commands of `bench`."""
DEFAULT_WORDS = ("bench", "run")
"""The command of a command line that begins with a flag, such as `main.py --dataset sample`."""
_PROGRAM = "neurogated"
_SETTINGS = {found.name: found for found in settings_of(MemoryConfig) if "." not in found.name}
_SHOWN = {
    "save_dir": ("DIR", "folder of the memory"),
    "namespace": ("NAME", "a separate graph"),
    "read_only": (None, "refuse every write"),
}
"""The settings whose flags every command's help shows, with the placeholder of their value and a short help."""
_COLUMN = 28
"""The column where the help of a flag begins."""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Leaves the lines of descriptions as they are, and gives the flags enough room for one line each."""

    def __init__(self, prog: str, **options: Any) -> None:  # noqa: ANN401 - those of the base class
        super().__init__(prog, **{**options, "max_help_position": _COLUMN})


class _Command(Protocol):
    """The attributes of a command's module."""

    EXAMPLES: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    command: Callable[[argparse.Namespace], int]


def build_parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser of the command that `words` begin with; its help lists all commands.

    Its result has the function to call as `command`.

    Raises:
        MissingExtraError: the command needs a package that is not installed.
    """
    parser = argparse.ArgumentParser(
        prog=_PROGRAM,
        usage=f"{_PROGRAM} COMMAND ...   ({_PROGRAM} COMMAND --help explains one; --version prints the version)",
        description=_overview(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    # Their lines would need the room of commands.
    parser.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
    version = f"{_PROGRAM} {neurogated.__version__}"
    parser.add_argument("--version", action="version", version=version, help=argparse.SUPPRESS)
    commands = parser.add_subparsers(prog=_PROGRAM, metavar="COMMAND", help=argparse.SUPPRESS)
    for group in COMMANDS.values():
        for name, summary in group.items():
            if name == "bench":
                _add_bench(commands, summary, words[1:2] if words[:1] == ["bench"] else ())
            else:
                _add(commands, name, summary, called=words[:1])
    return parser


def complete_switches(words: Iterable[str]) -> list[str]:
    """Return the words with `=true` after each bare switch, so that argparse does not take the next word as its value.

    A word that is neither true nor false belongs to the command: `ask --read_only "Who came?"` asks a question.
    """
    return list(_completed(list(words)))


def _completed(words: list[str]) -> Iterator[str]:
    switches = {f"--{name}" for name, found in _SETTINGS.items() if bool in found.kinds}
    # All words after `--` belong to the command.
    end = words.index("--") if "--" in words else len(words)
    for place, (word, following) in enumerate(zip(words, [*words[1:], ""], strict=True)):
        yield f"{word}=true" if word in switches and place < end and not _is_bool(following) else word


def _is_bool(word: str) -> bool:
    try:
        parse_bool(word)
    except ConfigError:
        return False
    return True


def _overview() -> str:
    lines = ["Memory for AI agents that works like memory: a graph, recalled by spreading activation."]
    for heading, group in COMMANDS.items():
        lines += ["", f"{heading}:", *(f"  {name:<11} {summary}" for name, summary in group.items())]
    return "\n".join(lines)


def _add_bench(commands: Any, summary: str, called: Sequence[str]) -> None:  # noqa: ANN401 - argparse's type is private
    bench = commands.add_parser("bench", usage=f"{_PROGRAM} bench COMMAND ...", description=_sentence(summary))
    measured = bench.add_subparsers(prog=f"{_PROGRAM} bench", title="commands", required=True, metavar="COMMAND")
    for name, text in BENCH.items():
        _add(measured, name, text, before="bench ", called=called, help=text)


def _add(commands: Any, name: str, summary: str, *, called: Sequence[str], before: str = "", **options: str) -> None:  # noqa: ANN401
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        usage=f"{_PROGRAM} {before}{name} [flags] ...",
        allow_abbrev=False,
        description=_sentence(summary),
        formatter_class=_Formatter,
        **options,
    )
    if [*called] == [name]:
        # `import` is a keyword of Python and `list` a function.
        suffix = "_" if keyword.iskeyword(name) or name == "list" else ""
        command = cast("_Command", importlib.import_module(f"neurogated.cli.{name}{suffix}"))
        parser.epilog = f"examples:\n{command.EXAMPLES}"
        parser.set_defaults(command=command.command)
        command.add_arguments(parser)
        parser.usage = _usage(parser, f"{_PROGRAM} {before}{name} [flags]")
        _add_common(parser.add_argument_group("flags of every command"))


def _usage(parser: argparse.ArgumentParser, beginning: str) -> str:
    """Return the usage with the positional arguments, but without the flags, which the help lists below it."""
    formatter = argparse.HelpFormatter(beginning)
    formatter.add_usage(None, [one for one in parser._actions if not one.option_strings], [], prefix="")  # noqa: SLF001
    return formatter.format_help().strip()


def _sentence(summary: str) -> str:
    return f"{summary[0].upper()}{summary[1:]}."


def _add_common(parser: Any) -> None:  # noqa: ANN401
    for name, found in _SETTINGS.items():
        _add_setting(parser, found, *_SHOWN.get(name, (None, None)))
    parser.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="any setting; 'settings' lists them"
    )
    parser.add_argument("--config", metavar="FILE", help="settings in YAML or JSON; flags win")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser.add_argument(
        "--log", choices=LEVELS, default="warning", metavar="LEVEL", help=f"to standard error: {', '.join(LEVELS)}"
    )


def _add_setting(parser: Any, found: Setting, metavar: str | None, help_text: str | None) -> None:  # noqa: ANN401
    # A bare flag turns a switch on; MemoryConfig reads and checks every value.
    optional: dict[str, Any] = {"nargs": "?", "const": "true"} if bool in found.kinds else {}
    parser.add_argument(
        f"--{found.name}",
        metavar=metavar or ("true|false" if optional else "VALUE"),
        default=None,
        help=argparse.SUPPRESS if help_text is None else f"{help_text} (default: {found.default})",
        **optional,
    )
