"""Flags and their help; every setting of `MemoryConfig` has a flag of its name."""

from __future__ import annotations

import argparse
import dataclasses
import typing
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, cast

import neurogated
from neurogated.cli import (
    ablate,
    add,
    ask,
    check,
    compact,
    delete,
    demo,
    export,
    feedback,
    history,
    import_,
    index,
    learn,
    maintain,
    migrate,
    namespaces,
    profile,
    restore,
    run,
    snapshot,
    stats,
    undo,
    update,
)
from neurogated.cli.logs import LEVELS
from neurogated.config.memory_config import MemoryConfig
from neurogated.config.setting import parse_bool
from neurogated.errors import ConfigError

__all__ = ["COMMANDS", "DEFAULT_COMMAND", "build_parser", "complete_switches"]

_DESCRIPTION = """\
Memory for AI agents that works like memory.

Without a command, `run` is meant: index a data set, ask its questions, measure recall.
"""


class _Command(Protocol):
    """What a command's module holds."""

    SUMMARY: str
    EXAMPLES: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    command: Callable[[argparse.Namespace], int]


DEFAULT_COMMAND = "run"
COMMANDS: dict[str, _Command] = {
    name: cast("_Command", module)
    for name, module in {
        "run": run,
        "demo": demo,
        "ablate": ablate,
        "learn": learn,
        "index": index,
        "ask": ask,
        "add": add,
        "update": update,
        "delete": delete,
        "feedback": feedback,
        "maintain": maintain,
        "history": history,
        "undo": undo,
        "compact": compact,
        "namespaces": namespaces,
        "stats": stats,
        "profile": profile,
        "check": check,
        "export": export,
        "import": import_,
        "snapshot": snapshot,
        "restore": restore,
        "migrate": migrate,
    }.items()
}


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; `command` of what it parses is the function to call."""
    parser = argparse.ArgumentParser(
        prog="neurogated", description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"neurogated {neurogated.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="command")
    built = {name: _add(commands, name, command) for name, command in COMMANDS.items()}
    # The default command needs no word, so its help is part of the help that needs none.
    parser.epilog = built[DEFAULT_COMMAND].format_help()
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


def _add(commands: Any, name: str, command: _Command) -> argparse.ArgumentParser:  # noqa: ANN401 - argparse's own type is private
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        allow_abbrev=False,
        help=command.SUMMARY,
        description=command.SUMMARY[0].upper() + command.SUMMARY[1:] + ".",
        epilog=f"examples:\n{command.EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=command.command)
    command.add_arguments(parser)
    _add_common(parser)
    _add_settings(parser)
    return parser


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
