"""The analysis of new nodes: causes and names, and the failed judgements that are retried later."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeVar, runtime_checkable

from neurogated.core.delta import PendingTask
from neurogated.core.edge_type import EdgeType
from neurogated.core.judgements import CausalJudgement
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.ports import CausalJudge, EntityFinder
from neurogated.errors import LLMError
from neurogated.ingestion.encoder import Encoder
from neurogated.text.strings import checked_names

CAUSE, ENTITIES = "cause", "entities"

T = TypeVar("T")

_log = logging.getLogger(__name__)


@runtime_checkable
class SupportsCausalBatch(Protocol):
    """Ability of a causal judge to judge many pairs together and to read each text once."""

    def judge_batch(self, pairs: Sequence[tuple[str, str]]) -> list[CausalJudgement]:
        """Return the judgement of each pair."""


@dataclass(slots=True)
class Findings:
    """CAUSE edges, nodes with their names, and failed judgements."""

    edges: list[MemoryEdge] = field(default_factory=list)
    nodes: list[MemoryNode] = field(default_factory=list)
    failed: list[PendingTask] = field(default_factory=list)


def causal_pairs(node_ids: Sequence[str], new: Collection[str], window: int) -> list[tuple[str, str]]:
    """Return the pairs of nodes to judge: each node with the next `window` nodes, if one of the two is new."""
    return [
        (first, second)
        for place, first in enumerate(node_ids)
        for second in node_ids[place + 1 : place + 1 + window]
        if first in new or second in new
    ]


class Analysis:
    """Runs judgements and collects the failed ones. A node is stored even if its judgements fail.

    Attributes:
        encoder: sets the importance and the energy of new nodes.
    """

    def __init__(self, causal_judge: CausalJudge, entity_finder: EntityFinder, encoder: Encoder | None = None) -> None:
        self._causal_judge = causal_judge
        self._judges_batches = causal_judge if isinstance(causal_judge, SupportsCausalBatch) else None
        self._entity_finder = entity_finder
        self.encoder = encoder or Encoder()

    def find_entities(self, nodes: Sequence[MemoryNode]) -> Findings:
        """Return the nodes in order, with the names in their texts."""
        findings = Findings()
        by_id = {node.id: node for node in nodes}
        tasks = [PendingTask(ENTITIES, (node.id,)) for node in nodes]
        names = self._run(tasks, lambda task: self._entity_finder.find(by_id[task.nodes[0]].content), findings)
        for node, found in zip(nodes, names, strict=True):
            entities = checked_names("found entities", found or ())
            findings.nodes.append(node.changed(found=node.found.changed(entities=entities)) if entities else node)
        return findings

    def find_causes(self, tasks: Sequence[PendingTask], nodes: Mapping[str, MemoryNode], at: datetime) -> Findings:
        """Return CAUSE edges for the causally linked pairs: one in each direction, with equal weights."""
        findings = Findings()
        texts = {task: (nodes[task.nodes[0]].content, nodes[task.nodes[1]].content) for task in tasks}
        judge, batch_judge = self._causal_judge, self._judges_batches
        judgements = (
            batch_judge.judge_batch(list(texts.values()))
            if batch_judge is not None
            else self._run(list(texts), lambda task: judge.judge(*texts[task]), findings)
        )
        for task, judgement in zip(texts, judgements, strict=True):
            if judgement is not None and judgement.is_causal:
                findings.edges += (
                    MemoryEdge(source, target, EdgeType.CAUSE, judgement.weight, created_at=at)
                    for source, target in (task.nodes, task.nodes[::-1])
                )
        return findings

    def _run(
        self, tasks: Sequence[PendingTask], judge: Callable[[PendingTask], T], findings: Findings
    ) -> list[T | None]:
        """Return the result of each task; None for a task that failed and stays pending."""

        def attempt(task: PendingTask) -> T | LLMError:
            try:
                return judge(task)
            except LLMError as error:
                return error

        results = list(map(attempt, tasks))
        failures = {task: result for task, result in zip(tasks, results, strict=True) if isinstance(result, LLMError)}
        if failures:
            findings.failed.extend(failures)
            example = next(iter(failures.values()))
            _log.warning("%d of %d judgements are queued for a retry: %s", len(failures), len(tasks), example)
        return [None if isinstance(result, LLMError) else result for result in results]
