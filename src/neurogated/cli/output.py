"""The output of commands: text for people, JSON values for scripts."""

from __future__ import annotations

import io
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.table import Table

from neurogated.core.conflicts import Conflict
from neurogated.core.kernel import Kernel
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import render
from neurogated.core.text import one_line
from neurogated.core.trace import PathStep, Recall, RecalledMemory
from neurogated.retrieval.similarity import PARTS

__all__ = [
    "NOTHING_FOUND",
    "beginning",
    "counted",
    "dated",
    "node_json",
    "picked",
    "plain",
    "questions",
    "questions_json",
    "recall_json",
    "recall_text",
    "table",
]

NOTHING_FOUND = "nothing found; the memories of a user are found only with --user NAME"
_WIDTH = 90
_UNBOUNDED = 10_000
_INDENT = "   "


def counted(count: int, things: str) -> str:
    """Return a number with the words of its plural, whose first word is singular after a 1: `1 memory deleted`."""
    noun, space, rest = things.partition(" ")
    one = f"{noun.removesuffix('ies')}y" if noun.endswith("ies") else noun.removesuffix("s")
    return f"{count} {one if count == 1 else noun}{space}{rest}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """Return a table as text; the first `left` columns are left-aligned, the others right-aligned.

    A table for a terminal has its width; one for a file or a pipe is as wide as its cells.
    """
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for place, name in enumerate(header):
        made.add_column(name, justify="left" if place < left else "right")
    for row in rows:
        made.add_row(*row)
    text = io.StringIO()
    width = Console().width if sys.stdout.isatty() else _UNBOUNDED
    Console(file=text, width=width, color_system=None, markup=False, highlight=False).print(made)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def dated(node: MemoryNode) -> str:
    """Return the text of a memory, after its timestamp if it has one."""
    return f"{node.timestamp:%Y-%m-%d %H:%M} UTC  {render(node)}" if node.timestamp else render(node)


def _kernel_line(kernel: Kernel) -> str:
    """Return the weights of a kernel, those against the stored direction behind a slash, and the reason."""
    weights = ", ".join(
        f"{kind.name} {weight:.2f}" + (f"/{kernel.against[kind]:.2f}" if kind in kernel.against else "")
        for kind, weight in kernel.weights.items()
    )
    return f"kernel: {weights or 'uniform'}\n{_INDENT}because: {kernel.justification}"


def recall_text(store: GraphStorePort, recall: Recall) -> str:
    """Return memories with the terms of their scores and the paths of their activation; `store` is the graph asked."""
    lines = [recall.query, _kernel_line(recall.kernel), f"trust in the graph: {recall.trust:.2f}"]
    lines += [f"note: {note}" for note in recall.notes]
    lines += [] if recall.memories else ["", NOTHING_FOUND]
    for rank, recalled in enumerate(recall, start=1):
        lines += ["", f"{rank}. score {recalled.score:.3f}{_sum(recalled.contributions)}  id {recalled.id}"]
        parts = (f"{name} {value:.3f}" for name, value in recalled.parts.items() if value and name in PARTS)
        lines.append(f"{_INDENT}similarity {recalled.parts['similarity']:.3f} from {', '.join(parts) or 'nothing'}")
        lines += textwrap.indent(dated(recalled.node), _INDENT).splitlines()
        if recalled.id in recall.states:
            lines.append(f"{_INDENT}in a conflict: {recall.states[recalled.id]}")
        if recalled.same_as:
            lines.append(f"{_INDENT}the same as: {', '.join(recalled.same_as)}")
        for step in recalled.path:
            # A memory that was removed since the recall is shown by its id.
            source = next(iter(store.get_nodes([step.source_id], missing_ok=True)), None)
            text = step.source_id if source is None else render(source)
            lines.append(f"{_INDENT}activation {step.flow:.3f} over {step.type.name} from: {beginning(text)}")
    lines += [f"\n{line}" for line in questions(recall.conflicts)]
    return "\n".join(lines)


def questions(conflicts: Iterable[Conflict]) -> list[str]:
    """Return the questions about conflicts, with their ids."""
    return [f"{conflict.id}: {conflict.question}" for conflict in conflicts]


def beginning(text: str) -> str:
    """Return a text on one line, shortened to the width of a terminal."""
    return textwrap.shorten(one_line(text), _WIDTH, placeholder=" …")


def _sum(terms: Mapping[str, float]) -> str:
    """Return the terms of a score as a sum, those of 0 left out."""
    signed = (
        f"{'-' if value < 0 else '+'} {name.replace('_', ' ')} {abs(value):.3f}"
        for name, value in terms.items()
        if value
    )
    return f" = {' '.join(signed).removeprefix('+ ')}" if any(terms.values()) else ""


def picked(value: object, names: str) -> dict[str, Any]:
    """Return the attributes of a value that have these names, separated by spaces."""
    return {name: getattr(value, name) for name in names.split()}


def plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a value that JSON does not know as one that it knows."""
    if isinstance(value, datetime):
        return value.isoformat()
    return dict(value) if isinstance(value, Mapping) else picked(value, " ".join(value.__dataclass_fields__))


def recall_json(recall: Recall) -> dict[str, Any]:
    """Return a recall as JSON values."""
    kernel = {
        "weights": {kind.name: weight for kind, weight in recall.kernel.weights.items()},
        "against": {kind.name: weight for kind, weight in recall.kernel.against.items()},
        "justification": recall.kernel.justification,
    }
    shown = picked(recall, "query trust notes states")
    memories = [_memory_json(recalled) for recalled in recall]
    return {**shown, "kernel": kernel, "memories": memories, "conflicts": questions_json(recall.conflicts)}


def questions_json(conflicts: Iterable[Conflict]) -> list[dict[str, str]]:
    """Return the questions about conflicts as JSON values."""
    return [picked(conflict, "id question") for conflict in conflicts]


def node_json(node: MemoryNode, same_as: Iterable[str]) -> dict[str, Any]:
    """Return a memory with the ids of those that say the same as JSON values."""
    return {**picked(node, "id content title speaker timestamp metadata"), "same_as": list(same_as)}


def _memory_json(recalled: RecalledMemory) -> dict[str, Any]:
    return {
        **node_json(recalled.node, recalled.same_as),
        **picked(recalled, "score parts contributions"),
        "found": recalled.node.found.to_json(),
        "path": [_step_json(step) for step in recalled.path],
        "flows": [_step_json(step) for step in recalled.flows],
    }


def _step_json(step: PathStep) -> dict[str, Any]:
    return {"source": step.source_id, "target": step.target_id, "type": step.type.name, **picked(step, "weight flow")}
