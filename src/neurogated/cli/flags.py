"""The flags that commands share, the types of their values, and the class of all commands."""

import inspect
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar, cast

import click

from neurogated.cli.app import COMMANDS
from neurogated.cli.opening import SETTINGS, Flags, logged_to_stderr, shown
from neurogated.config.setting import TRUTHS
from neurogated.evaluation.datasets import FORMATS
from neurogated.ingestion.document import ROLES
from neurogated.operations import REQUIRED, Argument, at_door, renamings, told
from neurogated.plasticity.plasticity_engine import Outcome, strength_of

_Decorated = TypeVar("_Decorated", bound=Callable[..., object])
_SHOWN = {
    "save_dir": ("DIR", "folder of the memory"),
    "namespace": ("NAME", "a separate graph"),
    "read_only": ("true|false", "refuse every write"),
}
"""The settings whose flags every command's help shows, with the placeholder of their value and a short help."""
_COLUMNS = 72
"""Of an example, besides its indent and the sign that its line goes on."""
_SWITCHES = {f"--{name}" for name, found in SETTINGS.items() if bool in found.kinds}


class _Type(click.ParamType):  # type: ignore[type-arg]
    """Reads values with a function. If it raises ValueError, the value is refused by naming what is wanted."""

    def __init__(self, name: str, read: Callable[[str], object], wanted: str) -> None:
        self.name, self._read, self._wanted = name, read, wanted

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> object:
        try:
            return self._read(value)
        except ValueError:
            return self.fail(f"{value!r} is not {self._wanted}", param, ctx)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name.strip() and equals):
        raise ValueError(text)
    return name.strip(), value


def _metadata(text: str) -> tuple[str, object]:
    name, value = _pair(text)
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def _moment(text: str) -> int | datetime:
    return int(text) if text.isdecimal() else datetime.fromisoformat(text)


def _outcome(text: str) -> float:
    return strength_of(cast("Outcome", text) if text in {"success", "fail"} else float(text))


# A time without a zone is local time.
METADATA = _Type("NAME=VALUE", _metadata, "NAME=VALUE, such as year=2027")
_TYPES: Mapping[str, Any] = {
    "count": click.IntRange(0),
    "duration": _Type("SECONDS", float, "a number of seconds"),
    "flag": bool,
    "moment": _Type("N|TIME", _moment, "the number of a change, or a time such as 2027-01-31T12:00:00"),
    "outcome": _Type("success|fail|N", _outcome, "'success', 'fail' or a number from -1 to 1"),
    "role": click.Choice(tuple(ROLES), case_sensitive=False),
    "status": click.Choice(("open", "resolved", "all")),
    "time": _Type("TIME", datetime.fromisoformat, "a time such as 2027-01-31T12:00:00"),
    "tokens": click.IntRange(1),
    **dict.fromkeys(("few", "top", "version"), int),
    **dict.fromkeys(("share", "unit"), float),
}
"""By the words of the table of operations; all others are texts."""
_SETTING = _Type("NAME=VALUE", _pair, "NAME=VALUE, such as retrieval.energy_weight=0.5")


def _setting_flags() -> Iterator[click.Option]:
    # MemoryConfig reads and checks every value.
    for name, found in SETTINGS.items():
        metavar, text = _SHOWN.get(name, ("VALUE", ""))
        shown = f"{text} (default: {found.default})" if text else found.spec.metadata["help"]
        yield click.Option([f"--{name}", name], metavar=metavar, help=shown, hidden=not text)


_LEVELS = click.Choice(("debug", "info", "warning"))
_COMMON = (
    click.Option(["--dataset"], metavar="NAME", help="the data set, or its memory"),
    *_setting_flags(),
    click.Option(["--set"], type=_SETTING, multiple=True, help="any setting; 'settings' lists them"),
    click.Option(
        ["--config"],
        metavar="FILE",
        help="settings in YAML or JSON; variables such as NEUROGATED_SAVE_DIR win over it, and flags over both",
    ),
    click.Option(["--json"], is_flag=True, help="print JSON"),
    click.Option(["--debug"], is_flag=True, help="show the traceback of an error"),
    click.Option(["--log"], type=_LEVELS, default="warning", help="to standard error"),
)
"""The flags of every command."""
_SHARED = {
    *(flag.name for flag in _COMMON),
    *("dataset_dir", "format", "all_namespaces", "user_id", "all_users", "session_id"),
}
"""The flags that a command's function finds in `Flags`."""


_OWNER = (Argument("user_id", "name", was="user"), Argument("session_id", "name", was="session"))


def _parameter(one: Argument) -> click.Parameter:
    """Return an argument of the table of operations as a flag, or as a word without one."""
    kind = _TYPES.get(one.type)
    required = one.default is REQUIRED
    if one.mark == "??" or (required and one.mark != "!"):
        return click.Argument([one.name], type=kind, required=required, nargs=-1 if one.mark == "..." else 1)
    if one.type == "flag":
        return click.Option([f"--{one.name}"], is_flag=True, help=one.help)
    metavar = (
        "N" if isinstance(kind, type | click.IntRange) else None if kind and one.type != "role" else one.type.upper()
    )
    default = None if required else one.default
    shown: dict[str, Any] = {"metavar": metavar, "default": default, "show_default": True, "help": one.help}
    return click.Option([f"--{one.name}"], type=kind, required=required, **shown)


class _Command(click.Command):
    """A command with the flags of every command.

    Its function gets `Flags`, the flags that only it has, and if it takes a `memory`, the one that they name, open.
    """

    def __init__(self, name: str, *, params: list[click.Parameter], door: str, without: str, **options: Any) -> None:  # noqa: ANN401
        self._arguments, self._name = at_door(door), door
        params = [*map(_parameter, self._arguments.values()), *params]
        left_out = {without, *(param.name for param in params)}
        common = (flag for flag in _COMMON if flag.name not in left_out)
        super().__init__(name, params=[*params, *common], **options)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        given = [word[2:].partition("=")[0] if word.startswith("--") else "" for word in args[:end]]
        with told() as sentences:
            olds = renamings(given, (*_OWNER, *self._arguments.values()), "--{}")
        for sentence in sentences:
            print(f"warning: {sentence}", file=sys.stderr)
        for place, name in enumerate(given):
            args[place] = args[place].replace(name, olds.get(name, name), 1)
        return super().parse_args(ctx, list(_completed(args)))

    def invoke(self, ctx: click.Context) -> object:
        flags = Flags({name: value for name, value in ctx.params.items() if name in _SHARED})
        own = {name: value for name, value in ctx.params.items() if name not in _SHARED}
        call = cast("Callable[..., object]", self.callback)
        with logged_to_stderr(ctx.params["log"]):
            if "memory" not in inspect.signature(call).parameters:
                return call(flags, **own)
            # A reader of the output that waits, such as a pager, does not keep the memory open.
            texts = list[str]()
            flags.show = texts.append
            try:
                with flags.open() as memory:
                    return call(flags, memory=memory, **own)
            finally:
                for text in texts:
                    shown(text)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        inner = [(name, found.summary) for name, found in COMMANDS.items() if name.startswith(f"{self._name} ")]
        groups: dict[str, list[tuple[str, str]]] = {"Commands": inner, "Flags": [], "Flags of every command": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            common = param in _COMMON or param not in self.params  # --help
            groups["Flags of every command" if common else "Flags"].extend([record] if record else [])
        for title, rows in groups.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def command(name: str, *, without: str = "") -> Callable[[_Decorated], click.Command]:
    """Return a decorator that makes a function the command of the overview with this name.

    It has the flags of every command, except `without`.
    """
    found = COMMANDS[name]
    return click.command(
        name.rpartition(" ")[2],
        cls=_Command,
        door=name,
        without=without,
        help=f"{found.summary[0].upper()}{found.summary[1:]}.",
        epilog="\n  ".join(("\b", "Examples:", *map(_on_lines, found.examples))),
        options_metavar="[flags]",
    )


def _on_lines(example: str) -> str:
    """Return a command line on as many lines as 80 columns need, for a shell; a quoted text stays on one."""
    unbroken = re.sub(r'"[^"]*"', lambda quoted: quoted[0].replace(" ", "\0"), example)
    lines = textwrap.wrap(unbroken, _COLUMNS, break_long_words=False, break_on_hyphens=False)
    return " \\\n      ".join(lines).replace("\0", " ")


def _completed(words: Sequence[str]) -> Iterator[str]:
    """Yield the words with `=true` after each bare switch, so that it does not take the next word as its value.

    A word that is neither true nor false belongs to the command: `ask --read_only "Who came?"` asks a question.
    """
    # All words after `--` belong to the command.
    end = words.index("--") if "--" in words else len(words)
    for place, (word, following) in enumerate(zip(words, [*words[1:], ""], strict=False)):
        takes_it = place >= end or following.strip().lower() in TRUTHS
        yield f"{word}=true" if word in _SWITCHES and not takes_it else word


# Flags of several commands

dataset_dir = click.option("--dataset_dir", metavar="DIR", default="dataset", help="folder of data (default: dataset)")
dataset_format = click.option("--format", type=click.Choice(tuple(FORMATS)), default="hipporag", help="of its files")
all_namespaces = click.option("--all_namespaces", is_flag=True, help="in every graph of the memory, not only one")
top_n = click.option("--top_n", "--TOP_N_RETRIEVAL", "TOP_N_RETRIEVAL", metavar="N", help="how many memories to return")


def user(text: str) -> Callable[[_Decorated], _Decorated]:
    """Return a decorator that adds `--user_id` with a help text."""
    return click.option("--user_id", metavar="NAME", help=text)
