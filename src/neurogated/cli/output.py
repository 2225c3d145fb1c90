"""Numbers with their words, and JSON values for scripts."""

from collections.abc import Iterable
from typing import Any

from neurogated.core.model import MemoryNode
from neurogated.core.trace import PathStep, Recall, RecalledMemory


def counted(count: int, things: str) -> str:
    """Return a number with the words of its plural, whose first word is singular after a 1: `1 memory deleted`."""
    noun, space, rest = things.partition(" ")
    one = f"{noun.removesuffix('ies')}y" if noun.endswith("ies") else noun.removesuffix("s")
    return f"{count} {one if count == 1 else noun}{space}{rest}"


def picked(value: object, names: str) -> dict[str, Any]:
    """Return the attributes of a value that have these names, separated by spaces."""
    return {name: getattr(value, name) for name in names.split()}


def recall_json(recall: Recall) -> dict[str, Any]:
    """Return a recall as JSON values."""
    kernel = {
        "weights": {kind.name: weight for kind, weight in recall.kernel.weights.items()},
        "against": {kind.name: weight for kind, weight in recall.kernel.against.items()},
        "justification": recall.kernel.justification,
    }
    shown = picked(recall, "query confidence trust notes states")
    memories = [_memory_json(recalled) for recalled in recall]
    return {
        **shown,
        "kernel": kernel,
        "memories": memories,
        "conflicts": [picked(one, "id question") for one in recall.conflicts],
    }


def node_json(node: MemoryNode, same_as: Iterable[str]) -> dict[str, Any]:
    """Return a memory with the ids of those that say the same as JSON values."""
    return {**picked(node, "id content title role speaker timestamp metadata"), "same_as": list(same_as)}


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
