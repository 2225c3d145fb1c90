"""Memories with clusters: memories that are linked and used together."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

from neurogated import BaseLLM, EdgeType, GraphDelta, MemoryEdge, NeuroGraphMemory
from neurogated.core.delta import Access
from neurogated.core.ports import Message
from neurogated.errors import LLMError

__all__ = ["TEXTS", "Scribe", "add_cluster", "use_together"]

TEXTS = (
    "The pottery course in Velmouth began on 3 May 2024.",
    "The kiln of the pottery course reaches 1200 degrees.",
    "Marta made a blue bowl in the pottery course.",
    "The pottery course ends with an exhibition in Velmouth.",
)


class Scribe(BaseLLM):
    """A language model that writes its answers in turn, the last one for ever, and fails without any."""

    name = "scribe"
    parameters: Mapping[str, Any] = {}

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.act: Callable[[], object] = lambda: None

    def infer(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        assert schema is not None
        self.asked.append(messages[-1]["content"])
        self.act()
        if not self.answers:
            raise LLMError("the model is away")
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return json.dumps({"fact": answer}), {"finish_reason": "stop"}


def use_together(memory: NeuroGraphMemory, ids: Sequence[str], times: int = 4) -> None:
    """Connect each pair of memories by an ASSOC edge, and count uses of them."""
    edges = [MemoryEdge(one, other, EdgeType.ASSOC, 0.8) for one, other in combinations(ids, 2)]
    memory.store.apply(GraphDelta(edges=tuple(edges)))
    memory.store.apply(GraphDelta(touch=Access(dict.fromkeys(ids, times))))


def add_cluster(memory: NeuroGraphMemory, texts: Sequence[str] = TEXTS, **options: Any) -> list[str]:  # noqa: ANN401 - those of `add`
    """Add texts that are used together; return their ids."""
    ids = [memory.add(text, **options)[0] for text in texts]
    use_together(memory, ids)
    return ids
