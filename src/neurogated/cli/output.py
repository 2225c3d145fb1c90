"""The output of commands: text for people, JSON for scripts."""

from __future__ import annotations

import argparse
import json
import math
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from neurogated.archive.manifest import ExportManifest
from neurogated.core.conflicts import Conflict
from neurogated.core.delta import HistoryEntry
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
    "dated",
    "emit",
    "history_json",
    "history_line",
    "kernel_line",
    "manifest_json",
    "manifest_line",
    "questions",
    "questions_json",
    "recall_json",
    "recall_text",
]

NOTHING_FOUND = "nothing found; the memories of a user are found only with --user NAME"
_WIDTH = 90
_INDENT = "   "


def emit(arguments: argparse.Namespace, value: Any, text: str) -> None:  # noqa: ANN401 - JSON
    """Print `value` as JSON where `--json` was given, else `text`."""
    print(json.dumps(value, ensure_ascii=False, indent=2) if arguments.json else text)


def dated(node: MemoryNode) -> str:
    """Return the text of a memory, after its timestamp if it has one."""
    return f"{node.timestamp:%Y-%m-%d %H:%M} UTC  {render(node)}" if node.timestamp else render(node)


def kernel_line(kernel: Kernel) -> str:
    """Return the weights of a kernel, those against the stored direction behind a slash, and the reason."""
    weights = ", ".join(
        f"{kind.name} {weight:.2f}" + (f"/{kernel.against[kind]:.2f}" if kind in kernel.against else "")
        for kind, weight in kernel.weights.items()
    )
    return f"kernel: {weights or 'uniform'}\n{_INDENT}because: {kernel.justification}"


def recall_text(store: GraphStorePort, recall: Recall) -> str:
    """Return memories with the terms of their scores and the paths of their activation; `store` is the graph asked."""
    lines = [recall.query, kernel_line(recall.kernel), f"trust in the graph: {recall.trust:.2f}"]
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


def recall_json(recall: Recall) -> dict[str, Any]:
    """Return a recall as JSON values."""
    return {
        "query": recall.query,
        "kernel": {
            "weights": {kind.name: weight for kind, weight in recall.kernel.weights.items()},
            "against": {kind.name: weight for kind, weight in recall.kernel.against.items()},
            "justification": recall.kernel.justification,
        },
        "trust": recall.trust,
        "notes": list(recall.notes),
        "memories": [_memory_json(recalled) for recalled in recall],
        "states": dict(recall.states),
        "conflicts": questions_json(recall.conflicts),
    }


def questions_json(conflicts: Iterable[Conflict]) -> list[dict[str, str]]:
    """Return the questions about conflicts as JSON values."""
    return [{"id": conflict.id, "question": conflict.question} for conflict in conflicts]


def _memory_json(recalled: RecalledMemory) -> dict[str, Any]:
    return {
        "id": recalled.id,
        "score": recalled.score,
        "parts": dict(recalled.parts),
        "contributions": dict(recalled.contributions),
        "same_as": list(recalled.same_as),
        "content": recalled.content,
        "title": recalled.node.title,
        "speaker": recalled.node.speaker,
        "timestamp": recalled.node.timestamp and recalled.node.timestamp.isoformat(),
        "metadata": dict(recalled.metadata),
        "found": recalled.node.found.to_json(),
        "path": [_step_json(step) for step in recalled.path],
        "flows": [_step_json(step) for step in recalled.flows],
    }


def _step_json(step: PathStep) -> dict[str, Any]:
    return {
        "source": step.source_id,
        "target": step.target_id,
        "type": step.type.name,
        "weight": step.weight,
        "flow": step.flow,
    }


def history_line(entry: HistoryEntry) -> str:
    """Return a line of history."""
    changes = [f"{count} {what}" for what, count in entry.changes.items()]
    if entry.operators:
        # The steps of one forgetting; an edge that was idle in all of them fades by their product.
        factor = math.prod(operator.factor for operator in entry.operators)
        changes.append(f"idle edges × {factor:g}, below {entry.operators[-1].floor:g} removed")
    return f"{entry.sequence:>6}  {entry.at:%Y-%m-%d %H:%M:%S}  {entry.reason}: {', '.join(changes)}"


def history_json(entry: HistoryEntry) -> dict[str, Any]:
    """Return a line of history as JSON values."""
    return {
        "sequence": entry.sequence,
        "at": entry.at.isoformat(),
        "reason": entry.reason,
        "changes": dict(entry.changes),
        "operators": [
            {"factor": op.factor, "idle_before": op.idle_before.isoformat(), "floor": op.floor}
            for op in entry.operators
        ],
    }


def manifest_json(manifest: ExportManifest) -> dict[str, Any]:
    """Return the content of an export as JSON values."""
    return {
        "embedder": manifest.embedder and manifest.embedder[0],
        "namespaces": {
            namespace.name: {"deltas": namespace.deltas, "nodes": namespace.nodes, "edges": namespace.edges}
            for namespace in manifest.namespaces
        },
    }


def manifest_line(manifest: ExportManifest) -> str:
    """Return in words how much an export holds."""
    names = ("namespaces", "nodes", "edges", "changes")
    counts = ((1, one.nodes, one.edges, one.deltas) for one in manifest.namespaces)
    return ", ".join(f"{sum(column)} {name}" for name, column in zip(names, zip(*counts, strict=True), strict=True))
