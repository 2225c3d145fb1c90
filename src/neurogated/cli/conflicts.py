"""`conflicts`: list the conflicts between memories, with the questions to ask."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from neurogated.cli.arguments import add_dataset, add_user
from neurogated.cli.opening import open_memory
from neurogated.cli.output import beginning, emit
from neurogated.core.conflicts import Conflict
from neurogated.memory import NeuroGraphMemory
from neurogated.viewer import explain_conflicts, write_page

__all__ = ["EXAMPLES", "add_arguments", "command", "json_of", "texts_of"]

EXAMPLES = """\
  neurogated conflicts --save_dir my_agent
  neurogated conflicts --save_dir my_agent --user ana --status all --json
  neurogated conflicts --save_dir my_agent --user ana --page conflicts.html
"""
_SHOWN = (
    *("id", "first", "second", "confidence", "outcome", "loser", "status", "because", "reason", "question"),
    "evidence",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    add_user(parser, "the user whose conflicts are listed")
    parser.add_argument("--status", choices=("open", "resolved", "all"), default="open", help="default: open")
    parser.add_argument("--limit", type=int, metavar="N", help="list at most this many")
    parser.add_argument(
        "--page", metavar="FILE", help="also write a page with both sides and the effect of each answer"
    )


def command(arguments: argparse.Namespace) -> int:
    """List conflicts."""
    with open_memory(arguments) as memory:
        status = None if arguments.status == "all" else arguments.status
        found = memory.conflicts(status, user_id=arguments.user_id, limit=arguments.limit)
        shown: dict[str, Any] = {"conflicts": list(map(json_of, found))}
        texts = texts_of(memory, (side for one in found for side in (*one.sides, *one.evidence)))
        lines = [*(_line(one, texts) for one in found), f"conflicts: {len(found)}"]
        if not found and arguments.user_id is None:
            lines.append("the conflicts of a user are listed only with --user NAME")
        if arguments.page:
            page = explain_conflicts(memory, user_id=arguments.user_id, limit=arguments.limit)
            shown["page"] = str(write_page(page, arguments.page))
            lines.append(f"both sides and the effect of each answer: {shown['page']}")
        emit(arguments, shown, "\n".join(lines))
    return 0


def texts_of(memory: NeuroGraphMemory, node_ids: Iterable[str]) -> Mapping[str, str]:
    """Return the beginnings of memories by id; those that were removed meanwhile have none."""
    nodes = memory.store.get_nodes(list(dict.fromkeys(node_ids)), missing_ok=True)
    return defaultdict(str, {node.id: f"“{beginning(node.content)}”" for node in nodes})


def _line(conflict: Conflict, texts: Mapping[str, str]) -> str:
    state = f"{conflict.status}, {conflict.outcome}, {conflict.instruction}"
    sides = [f"    {side}  {texts[side]}".rstrip() for side in conflict.sides]
    answers = [f"    perhaps answered by {one}  {texts[one]}".rstrip() for one in conflict.evidence]
    return "\n".join((f"{conflict.id}  ({state})", *sides, f"    {conflict.question}", *answers))


def json_of(conflict: Conflict) -> dict[str, Any]:
    """Return a conflict as JSON values."""
    values: dict[str, Any] = {name: getattr(conflict, name) for name in _SHOWN}
    return {
        **values,
        "kind": conflict.kind.value,
        "instruction": conflict.instruction,
        "user_id": conflict.scope.user_id,
    }
