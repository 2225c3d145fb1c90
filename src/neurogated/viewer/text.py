"""A recall as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

from neurogated.core.clock import local
from neurogated.core.conflicts import Conflict
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import render
from neurogated.core.trace import Recall
from neurogated.retrieval.similarity import PARTS
from neurogated.text import strings
from neurogated.text.times import Zone

NOTHING_FOUND = "nothing found; the memories of a user are found only with --user_id and exactly that name"
_WIDTH = 90
_INDENT = "   "


def dated(node: MemoryNode, zone: Zone) -> str:
    """Return the text of a memory, after its timestamp in a zone if it has one."""
    day = node.timestamp and local(node.timestamp, zone or node.found.zone)
    return f"{day:%Y-%m-%d %H:%M}  {render(node)}" if day else render(node)


def recall_text(store: GraphStorePort, recall: Recall) -> str:
    """Return memories with the terms of their scores and the paths of their activation; `store` is the graph asked."""
    trusted = f"confidence: {recall.confidence:.2f}; trust in the graph: {recall.trust:.2f}"
    weights = ", ".join(
        f"{kind.name} {weight:.2f}" + (f"/{recall.kernel.against[kind]:.2f}" if kind in recall.kernel.against else "")
        for kind, weight in recall.kernel.weights.items()
    )
    lines = [recall.query, f"kernel: {weights or 'uniform'}\n{_INDENT}because: {recall.kernel.justification}", trusted]
    lines += [f"note: {note}" for note in recall.notes]
    # A recall that found something of low confidence has a note.
    lines += [] if recall.memories or recall.confidence else ["", NOTHING_FOUND]
    for rank, recalled in enumerate(recall, start=1):
        lines += ["", f"{rank}. score {recalled.score:.3f}{_sum(recalled.contributions)}  id {recalled.id}"]
        parts = (f"{name} {value:.3f}" for name, value in recalled.parts.items() if value and name in PARTS)
        lines.append(f"{_INDENT}similarity {recalled.parts['similarity']:.3f} from {', '.join(parts) or 'nothing'}")
        lines += textwrap.indent(dated(recalled.node, recall.zone), _INDENT).splitlines()
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
    return strings.beginning(text, _WIDTH)


def _sum(terms: Mapping[str, float]) -> str:
    """Return the terms of a score as a sum, those of 0 left out."""
    signed = (
        f"{'-' if value < 0 else '+'} {name.replace('_', ' ')} {abs(value):.3f}"
        for name, value in terms.items()
        if value
    )
    return f" = {' '.join(signed).removeprefix('+ ')}" if any(terms.values()) else ""
