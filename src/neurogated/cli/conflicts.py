"""`conflicts`: list the conflicts between memories, with the questions to ask."""

from __future__ import annotations

import argparse
from typing import Any

from neurogated.cli.arguments import add_dataset
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit
from neurogated.core.conflicts import Conflict

__all__ = ["EXAMPLES", "add_arguments", "command", "json_of", "line_of"]

EXAMPLES = """\
  neurogated conflicts --save_dir my_agent
  neurogated conflicts --save_dir my_agent --user_id ana --status all --json
"""
_SHOWN = ("id", "first", "second", "confidence", "outcome", "loser", "status", "because", "reason", "question")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("--user_id", metavar="NAME", help="the user whose conflicts are listed")
    parser.add_argument("--status", choices=("open", "resolved", "all"), default="open", help="default: open")
    parser.add_argument("--limit", type=int, metavar="N", help="list at most this many")


def command(arguments: argparse.Namespace) -> int:
    """List conflicts."""
    with open_memory(arguments) as memory:
        status = None if arguments.status == "all" else arguments.status
        found = memory.conflicts(status, user_id=arguments.user_id, limit=arguments.limit)
        lines = [*map(line_of, found), f"{len(found)} conflicts"]
        emit(arguments, {"conflicts": list(map(json_of, found))}, "\n".join(lines))
    return 0


def line_of(conflict: Conflict) -> str:
    """Return a conflict as lines for a terminal."""
    state = f"{conflict.status}, {conflict.outcome}, {conflict.instruction}"
    return f"{conflict.id}  ({state})\n    {conflict.first}\n    {conflict.second}\n    {conflict.question}"


def json_of(conflict: Conflict) -> dict[str, Any]:
    """Return a conflict as JSON values."""
    values: dict[str, Any] = {name: getattr(conflict, name) for name in _SHOWN}
    return {
        **values,
        "kind": conflict.kind.value,
        "instruction": conflict.instruction,
        "user_id": conflict.scope.user_id,
    }
