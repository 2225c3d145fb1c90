"""`run` and `repl`: expressions on the command line."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from neurogated.cli.flags import command
from neurogated.cli.opening import Flags
from neurogated.core.extras import import_extra
from neurogated.errors import ExpressionError, InputError, NeurogatedError
from neurogated.operations import told
from neurogated.sexpr import OPERATIONS, check, read

_HISTORY = ".neurogated_history"
_COMPLETED_IDS = 1_000
_BEFORE_CARET = 60
# A word of an expression, which completion replaces.
_WORD = re.compile(r"""[^\s()"']+""")


@command("run")
def run(flags: Flags, expression: str) -> None:
    text = sys.stdin.read() if expression == "-" else expression
    read_only = flags.config().read_only
    try:
        with told():  # `execute` tells it
            writes = check(text).operation.writes
        with flags.open(create=writes and not read_only) as memory:
            print(_shown(memory.execute(text, user_id=flags.owner["user_id"], read_only=read_only)))
    except ExpressionError as fault:
        raise InputError(pointed(fault, text)) from None


@command("repl")
def repl(flags: Flags) -> None:
    read_only, owner = flags.config().read_only, flags.owner["user_id"]
    with flags.open() as memory:
        known = dict.fromkeys(one.id for one in memory.list(limit=_COMPLETED_IDS, user_id=owner))
        ask = _prompt(lambda: [*OPERATIONS, *known])
        for text in _lines(ask):
            try:
                value = memory.execute(text, user_id=owner, read_only=read_only)
            except ExpressionError as fault:
                print(pointed(fault, text), file=sys.stderr)
            except NeurogatedError as error:
                print(error, file=sys.stderr)
            else:
                known.update(dict.fromkeys(_ids(value)))
                print(_shown(value))


def pointed(fault: ExpressionError, text: str) -> str:
    """Return the message of a fault with the line of its place, and a caret under it."""
    line = text.split("\n")[fault.line - 1]
    begin = max(0, fault.column - 1 - _BEFORE_CARET)
    part = line[begin : begin + 2 * _BEFORE_CARET].replace("\t", " ")
    return f"{fault}\n  {part}\n  {' ' * (fault.column - 1 - begin)}^"


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _ids(value: Any) -> Iterator[str]:  # noqa: ANN401 - a JSON value
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict) and isinstance(one.get("id"), str):
            yield one["id"]


def _lines(ask: Callable[[], str]) -> Iterator[str]:
    """Yield the texts that are typed, until the input ends; an interrupt discards the present one."""
    while True:
        try:
            if text := ask().strip():
                yield text
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


def _prompt(words: Callable[[], list[str]]) -> Callable[[], str]:
    """Return a function that reads an expression of one or more lines, with completion and a history file."""
    toolkit = import_extra("prompt_toolkit", "repl")
    history = Path.home() / _HISTORY
    # The file holds what was typed, so nobody else may read it.
    os.close(os.open(history, os.O_CREAT | os.O_WRONLY, 0o600))
    history.chmod(0o600)
    session = toolkit.PromptSession(
        "> ",
        completer=toolkit.completion.WordCompleter(words, pattern=_WORD),
        history=toolkit.history.FileHistory(str(history)),
        multiline=toolkit.filters.Condition(lambda: _is_unfinished(toolkit.application.get_app().current_buffer.text)),
    )
    ask: Callable[[], str] = session.prompt
    return ask


def _is_unfinished(text: str) -> bool:
    """Return whether Enter begins another line, because the expression has no end yet."""
    try:
        read(text)
    except ExpressionError as fault:
        return fault.is_unfinished and bool(text.strip())
    return False
