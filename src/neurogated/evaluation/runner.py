"""The main benchmark: index a data set, ask its questions, and write the measurements."""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.extras import import_extra
from neurogated.core.trace import Recall
from neurogated.errors import LLMError, MissingExtraError
from neurogated.evaluation.experiment import index, rank
from neurogated.evaluation.metrics import (
    PERCENT,
    RECALL_CUTOFFS,
    Table,
    latency_table,
    recall_matrix,
    recall_table,
)
from neurogated.evaluation.model import Dataset, Question
from neurogated.evaluation.qa import exact_match, f1_score
from neurogated.evaluation.records import new_folder, write_json, write_rankings
from neurogated.evaluation.uncertainty import Spread, spread_over
from neurogated.memory import NeuroGraphMemory, show_progress

__all__ = ["RunReport", "config_for", "index", "measure", "run"]

_log = logging.getLogger(__name__)


class _Result(NamedTuple):
    collection: int
    question: Question
    ranked: list[Hashable]
    recall: Recall
    answer: str | None
    """The language model's answer; None if there is no model or it failed."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """The results of a run, and their folder."""

    folder: Path
    recall: Table
    latency: Table
    indexing_seconds: float
    nodes: int
    edges: int
    spread: Spread | None
    """Recall in percent at each of `RECALL_CUTOFFS` over parts of the data set; None for fewer than two questions."""
    answers: dict[str, float] | None
    """Exact match and F1 in percent; None without a language model."""

    def metrics(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        return {
            "recall": self.recall,
            "spread": None if self.spread is None else _spread_json(self.spread),
            "latency": self.latency,
            "indexing_seconds": self.indexing_seconds,
            "nodes": self.nodes,
            "edges": self.edges,
            "answers": self.answers,
        }


def run(dataset: Dataset, config: MemoryConfig, *, progress: bool | None = None) -> RunReport:
    """Open the memory of `dataset` and `measure` it.

    Args:
        dataset: documents and questions.
        config: settings; `save_dir` is the root of all files.
        progress: show progress bars; None shows them if the output is a terminal.
    """
    with NeuroGraphMemory(config_for(dataset, config)) as memory:
        return measure(dataset, memory, progress=progress)


def config_for(dataset: Dataset, config: MemoryConfig) -> MemoryConfig:
    """Return the settings of the memory of `dataset`, which has its own folder below `save_dir`."""
    return config.replace(save_dir=str(Path(config.save_dir) / dataset.name))


def measure(dataset: Dataset, memory: NeuroGraphMemory, *, progress: bool | None = None) -> RunReport:
    """Index `dataset` into `memory`, ask every question, and write rankings, metrics and settings.

    Each collection goes into the namespace of its name; stored documents are not indexed again. The run is written to
    `<save_dir>/<UTC time>` of the memory's settings.
    """
    begin = time.perf_counter()
    memories = index(dataset, memory, progress=progress)
    indexing_seconds = time.perf_counter() - begin
    asked = [(place, question) for place, part in enumerate(dataset.collections) for question in part.questions]
    results = [
        _ask(memories[place], place, question)
        for place, question in show_progress(asked, "asking", "question", progress=progress)
    ]
    views = [one.store.view() for one in memories]
    report = RunReport(
        folder=new_folder(Path(memory.config.save_dir)),
        recall=_recall(results, RECALL_CUTOFFS),
        spread=_spread(results),
        latency=latency_table([result.recall.seconds for result in results]),
        indexing_seconds=indexing_seconds,
        nodes=sum(view.live_nodes().size for view in views),
        edges=sum(view.live_edges().size for view in views),
        answers=_answers(results),
    )
    _write(report, results, memory.config, dataset)
    return report


def _ask(memory: NeuroGraphMemory, collection: int, question: Question) -> _Result:
    ranked, recall = rank(memory, question.text)
    try:
        answer = memory.answer(recall)
    except LLMError as error:
        _log.warning("question %s has no answer: %s", question.id, error)
        answer = None
    return _Result(collection, question, ranked, recall, answer)


def _answers(results: list[_Result]) -> dict[str, float] | None:
    """Return exact match and F1 in percent over the questions with answers; a missing prediction scores 0."""
    asked = [result for result in results if result.question.answers]
    if not asked or all(result.answer is None for result in asked):
        return None
    scores = {"exact match": exact_match, "F1": f1_score}
    return {
        name: PERCENT * fmean(score(result.answer or "", result.question.answers) for result in asked)
        for name, score in scores.items()
    }


def _recall(results: list[_Result], cutoffs: Sequence[int]) -> Table:
    return recall_table(
        [result.ranked for result in results],
        [result.question.gold for result in results],
        [result.question.kind for result in results],
        cutoffs,
    )


def _spread(results: list[_Result]) -> Spread | None:
    scored = [result for result in results if result.question.gold]
    recalls = recall_matrix([result.ranked for result in scored], [result.question.gold for result in scored])
    return spread_over(recalls, [result.collection for result in scored])


def _spread_json(spread: Spread) -> dict[str, Any]:
    columns = [f"R@{k}" for k in RECALL_CUTOFFS]
    return {
        "over": spread.over,
        "mean": dict(zip(columns, spread.mean.tolist(), strict=True)),
        "standard deviation": dict(zip(columns, spread.deviation.tolist(), strict=True)),
    }


def _write(report: RunReport, results: list[_Result], config: MemoryConfig, dataset: Dataset) -> None:
    rows = ((result.question.id, result.ranked, result.answer) for result in results)
    write_rankings(report.folder / "rankings.jsonl", rows)
    write_json(report.folder / "config.json", config.to_dict())
    figures = {"dataset": dataset.name, "notes": list(dataset.notes), **report.metrics()}
    write_json(report.folder / "metrics.json", figures)
    if not report.recall:
        return
    curve = _recall(results, range(1, max(RECALL_CUTOFFS) + 1))
    try:
        charts = import_extra("neurogated.evaluation.charts", "bench")
    except MissingExtraError as error:
        _log.info("no chart is drawn: %s", error)
    else:
        charts.recall_chart(curve, f"Recall on {dataset.name}", report.folder / "recall")
