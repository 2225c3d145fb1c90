"""Entry point: finds the command, and prints each error as one line."""

import importlib
import importlib.util
import itertools
import keyword
import os
import re
import sys
import textwrap
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple, cast

import click
from click.shell_completion import shell_complete

import neurogated
from neurogated.core.habits import meant
from neurogated.errors import ConfigError, DatasetError, NeurogatedError

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130
_NAME = "neurogated"
_COMPLETE = "_NEUROGATED_COMPLETE"
_FLAG = re.compile(r"(?<=^--)[a-zA-Z][\w-]*(?==|$)")
# The command of a command line that begins with a flag, such as `main.py --dataset sample`.
_DEFAULT_WORDS = ("bench", "run")
_BARE = f"{_NAME}.bare"
"""Tells the help that the command line is empty."""
_FIRST = ("demo", "chat", "add", "ask", "doctor")
"""The commands that a beginner needs."""


class CommandEntry(NamedTuple):
    """What the help says about a command."""

    module: str
    """The module of `cli` that has the command. It is imported when the command is called, so help is fast."""
    theme: str
    summary: str
    examples: list[str]


def _read() -> dict[str, CommandEntry]:
    commands: dict[str, CommandEntry] = {}
    module = theme = name = ""
    for line in Path(__file__).with_name("commands.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("    "):
            commands[name].examples.append(line.strip())
        elif line.startswith("  "):
            name, _, summary = line.strip().partition(": ")
            commands[name] = CommandEntry(module, theme, summary, [])
        else:
            module, _, theme = line.partition(" ")
    return commands


COMMANDS = _read()
"""The commands, read from `commands.txt`: modules with their themes, below them commands, below these examples."""


class _Program(click.Group):
    """Finds commands by name and imports them on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the base class passes it
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = COMMANDS.get(cmd_name)
        if found is None or not found.examples:
            within = ((name, self.get_command(ctx, name)) for name in COMMANDS if name.startswith(f"{cmd_name} "))
            inner = {name.partition(" ")[2]: one for name, one in within if one is not None}
            about = found.summary if found else f"The commands of {cmd_name!r}."
            return click.Group(cmd_name, inner, help=about, no_args_is_help=False) if inner else None
        module = importlib.import_module(f"neurogated.cli.{found.module}")
        suffix = "_" if keyword.iskeyword(cmd_name) or cmd_name == "list" else ""
        return cast("click.Command", getattr(module, f"{re.sub('[ -]', '_', cmd_name)}{suffix}"))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        both = " ".join(args[:2])
        if both in COMMANDS:
            return both, self.get_command(ctx, both), args[2:]
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(_unknown(f"there is no command {args[0]!r}", args[0], COMMANDS), ctx)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_BARE] = not args
        return super().parse_args(ctx, args or ["--help"])

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if ctx.meta[_BARE]:
            # The commands for beginners, then the names of all others.
            names = ", ".join(name for name in COMMANDS if " " not in name and name not in _FIRST)
            first = "".join(f"  {name:<8}{COMMANDS[name].summary}\n" for name in _FIRST)
            formatter.write(
                f"{self.help}\nUsage: {_NAME} COMMAND ...   ({_NAME} COMMAND --help explains one)\n\n"
                f"Begin with:\n{first}\n"
                f"Other commands ({_NAME} --help explains each):\n"
                f"{textwrap.indent(textwrap.fill(names, 78), '  ')}\n"
            )
            return
        # The flags of the program itself would need the room of commands.
        formatter.write(f"{self.help}\nUsage: {_NAME} COMMAND ...   ({_NAME} COMMAND --help explains one)\n")
        for theme, commands in itertools.groupby(COMMANDS.items(), key=lambda found: found[1].theme):
            with formatter.section(theme):
                formatter.write_dl([(name, found.summary) for name, found in commands if " " not in name])


PROGRAM = _Program(
    _NAME,
    help="Memory for AI agents: a graph, recalled by spreading activation.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
click.version_option(neurogated.__version__, message=f"{_NAME} %(version)s")(PROGRAM)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (that of the process when left out) and return its exit code.

    0: success. 1: failure. 2: flags, settings or a data file are wrong; of `hook` 1, too. 130: interrupted.
    """
    if instruction := os.environ.get(_COMPLETE):
        return shell_complete(PROGRAM, {}, _NAME, _COMPLETE, instruction)
    words = list(sys.argv[1:] if argv is None else argv)
    # Flags such as `--save-dir` in the form of their names; words after `--` are no flags.
    end = words.index("--") if "--" in words else len(words)
    words[:end] = (_FLAG.sub(lambda name: name[0].replace("-", "_"), word) for word in words[:end])
    if words and words[0].startswith("-") and words[0] not in {"-h", "--help", "--version"}:
        words = [*_DEFAULT_WORDS, *words]
    try:
        with PROGRAM.make_context(_NAME, words.copy(), obj=_first_answer(words)) as context:
            return int(PROGRAM.invoke(context) or EXIT_OK)
    except click.exceptions.Exit as done:
        return done.exit_code  # of --help and --version
    except (click.UsageError, NeurogatedError) as error:
        if "--debug" in words:
            raise
        message, code = _explained(error)
        print(f"error: {message}", file=sys.stderr)
        # For a hook of Claude Code, 2 would block the prompt; any other code only shows the message.
        return EXIT_FAILED if words[:1] == ["hook"] else code
    except BrokenPipeError:
        # The reader of the output closed the pipe; Python's flush at exit must not raise again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("error: interrupted; all finished writes are stored", file=sys.stderr)
        return EXIT_INTERRUPTED
    return EXIT_OK


def _first_answer(words: Sequence[str]) -> object:
    """Return the relay of `mcp` on standard input; it has answered the client, whatever the rest takes to load."""
    if words[:1] != ["mcp"] or {"install", "-h", "--help"}.intersection(words):
        return None
    if "--http" in words:
        raise click.UsageError("'neurogated serve' answers MCP over HTTP, at /mcp beside REST")
    if importlib.util.find_spec("mcp") is None:
        return None  # the command says what to install
    return importlib.import_module("neurogated.integrations.mcp.stdio").Relay(words)


def _explained(error: click.UsageError | NeurogatedError) -> tuple[str, int]:
    if not isinstance(error, click.UsageError):
        return str(error), EXIT_USAGE if isinstance(error, ConfigError | DatasetError) else EXIT_FAILED
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        flags = [one.opts[0] for one in error.ctx.command.params if one.param_type_name == "option"]
        error = click.UsageError(_unknown(f"there is no flag {error.option_name}", error.option_name, flags), error.ctx)
    elif isinstance(error, click.BadParameter) and (param := error.param) is not None:
        name = param.opts[0] if isinstance(param, click.Option) else repr(param.name)
        fault = " is missing" if isinstance(error, click.MissingParameter) else f": {error.message}"
        error = click.UsageError(f"{name}{fault}", error.ctx)
    where = "" if error.ctx is None else f"; see '{error.ctx.command_path} --help'"
    return f"{error.format_message().removesuffix('.')}{where}", EXIT_USAGE


def _unknown(told: str, word: str, known: Collection[str]) -> str:
    # All that is known would be too long; the help has it.
    return "; ".join(filter(None, (told, meant(word, known))))
