"""`list`: list memories page by page."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence

from neurogated.cli.arguments import add_dataset, add_owner, owner_of
from neurogated.cli.opening import open_memory
from neurogated.cli.output import NOTHING_FOUND, dated, emit
from neurogated.core.model import MemoryNode

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated list --save_dir my_agent
  neurogated list --save_dir my_agent --user ana --limit 50
"""
_PAGE = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    add_owner(parser)
    parser.add_argument("--limit", type=int, default=_PAGE, metavar="N", help=f"memories on a page (default: {_PAGE})")
    parser.add_argument("--cursor", metavar="ID", help="the cursor that the previous page printed")


def command(arguments: argparse.Namespace) -> int:
    """Print a page."""
    with open_memory(arguments) as memory:
        owner = owner_of(arguments)
        page = memory.list(limit=arguments.limit, cursor=arguments.cursor, **owner)
        total = memory.count(**owner)
        same = {node.id: memory.same_as(node.id) for node in page}
    lines = [_line(node, same[node.id]) for node in page]
    lines.append(f"{len(page)} of {total} memories" + (f"; next page: --cursor {page.cursor}" if page.cursor else ""))
    lines += [] if total else [NOTHING_FOUND]
    shown = [_json(node, same[node.id]) for node in page]
    emit(arguments, {"memories": shown, "cursor": page.cursor, "total": total}, "\n".join(lines))
    return 0


def _line(node: MemoryNode, same_as: Sequence[str]) -> str:
    group = f"\nthe same as: {', '.join(same_as)}" if same_as else ""
    return f"{node.id}\n{textwrap.indent(dated(node) + group, '    ')}"


def _json(node: MemoryNode, same_as: Sequence[str]) -> dict[str, object]:
    return {
        "id": node.id,
        "content": node.content,
        "title": node.title,
        "speaker": node.speaker,
        "timestamp": node.timestamp and node.timestamp.isoformat(),
        "metadata": dict(node.metadata),
        "same_as": same_as,
    }
