"""Flags and their help; every setting of `MemoryConfig` has a flag of its name."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import keyword
import typing
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, cast

import neurogated
from neurogated.cli.logs import LEVELS
from neurogated.config.memory_config import MemoryConfig
from neurogated.config.setting import parse_bool
from neurogated.errors import ConfigError

__all__ = ["COMMANDS", "DEFAULT_COMMAND", "build_parser", "complete_switches"]

_DESCRIPTION = """\
Memory for AI agents that works like memory.

Without a command, `run` is meant: index a data set, ask its questions, measure recall.
`neurogated COMMAND --help` shows the flags of a command.
"""


class _Command(Protocol):
    """What a command's module holds."""

    EXAMPLES: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    command: Callable[[argparse.Namespace], int]


DEFAULT_COMMAND = "run"
COMMANDS: dict[str, str] = {
    "run": "index a data set, ask its questions, measure recall (the default)",
    "demo": "run on the bundled sample; one graph, two kernels; and how idle edges fade",
    "ablate": "measure a data set with each ingredient switched off in turn",
    "learn": "feed back a random half of a data set's questions, measure the other half before and after",
    "index": "put a data set into its memory without asking its questions",
    "ask": "show the memories that a question brings up, with scores, kernel and paths",
    "add": "remember a text, a file, or what comes by standard input",
    "update": "put a new version of a memory in its place; the history keeps the old one until compact --history",
    "delete": "forget memories, or all of a document, with what follows from their texts; compact erases them for good",
    "feedback": "say which memories were of use together; the edges among them grow stronger",
    "maintain": "remove what has expired, and let the edges that nothing uses fade by one round; similarity never does",
    "history": "list what changed, when and why",
    "undo": "take back the last change, or every change after a numbered one",
    "compact": "erase for good what was deleted or has expired, with its history; empty the caches",
    "namespaces": "list the graphs of a memory, or remove one of them with its history",
    "stats": "count nodes, edges, changes and judgements that wait; bytes on disk, use of caches and language model",
    "profile": "show where recalls and indexing spend their time; the memory stays as it is",
    "check": "look through the memory on disk for damage; exit code 1 if there is any",
    "export": "write the memory, with all namespaces and its whole past, to a new folder of plain files",
    "import": "bring an export into the memory, whole or not at all; its namespaces must have no history there",
    "snapshot": "copy the memory, with all namespaces, to one file; 'restore' makes a memory of it again",
    "restore": "put what 'snapshot' wrote in the place of the memory, or make it the memory where there is none",
    "migrate": "embed every stored text with the model --embedding_name; interrupted, it goes on where it was",
}
"""What each command does. Its module is imported when the command is called, so that help is quick."""


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of one command beside the names of all; `command` of its result is the function to call.

    Raises:
        MissingExtraError: the command needs a package that is not installed.
    """
    parser = argparse.ArgumentParser(
        prog="neurogated", description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"neurogated {neurogated.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="command")
    for name, summary in COMMANDS.items():
        added = commands.add_parser(
            name,
            allow_abbrev=False,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == command:
            _complete(added, name)
    return parser


def complete_switches(words: Iterable[str]) -> list[str]:
    """Return the words with `=true` after each bare switch, so that argparse does not take the next word as its value.

    A word that is neither true nor false belongs to the command: `ask --read_only "Who came?"` asks a question.
    """
    return list(_completed(list(words)))


def _completed(words: list[str]) -> Iterator[str]:
    switches = {f"--{name}" for name, hint in typing.get_type_hints(MemoryConfig).items() if hint is bool}
    # After `--` all words are the command's own.
    end = words.index("--") if "--" in words else len(words)
    for place, (word, following) in enumerate(zip(words, [*words[1:], ""], strict=True)):
        yield f"{word}=true" if word in switches and place < end and not _is_bool(following) else word


def _is_bool(word: str) -> bool:
    try:
        parse_bool(word)
    except ConfigError:
        return False
    return True


def _complete(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the flags and examples of a command."""
    # Python has a keyword of the name "import".
    module = importlib.import_module(f"neurogated.cli.{name}{'_' * keyword.iskeyword(name)}")
    command = cast("_Command", module)
    parser.epilog = f"examples:\n{command.EXAMPLES}"
    parser.set_defaults(command=command.command)
    command.add_arguments(parser)
    _add_common(parser)
    _add_settings(parser)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", metavar="FILE", help="settings in YAML or JSON; environment and flags win over them"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser.add_argument(
        "--log", choices=LEVELS, default="warning", help="least weight of what is logged to standard error"
    )


def _add_settings(parser: argparse.ArgumentParser) -> None:
    settings = parser.add_argument_group("settings", "each also as NEUROGATED_<NAME> in the environment")
    hints = typing.get_type_hints(MemoryConfig)
    for spec in dataclasses.fields(MemoryConfig):
        is_switch = hints[spec.name] is bool
        # A bare flag turns a switch on; MemoryConfig reads and judges every value.
        optional: dict[str, Any] = {"nargs": "?", "const": "true"} if is_switch else {}
        default = "none" if spec.default is None else str(spec.default).lower() if is_switch else spec.default
        settings.add_argument(
            f"--{spec.name}",
            metavar=_metavar(hints[spec.name]),
            default=None,
            help=f"{spec.metadata['help']} (default: {default})".replace("%", "%%"),
            **optional,
        )


def _metavar(hint: Any) -> str:  # noqa: ANN401 - a type or a union of types
    kind = next(kind for kind in (*typing.get_args(hint), hint) if isinstance(kind, type))
    return {bool: "true|false", int: "N", float: "X"}.get(kind, "TEXT")
