"""The main job: index a data set, ask its questions, measure and write down."""

from __future__ import annotations

import itertools
import json
import logging
import time
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pandas as pd

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.trace import Recall
from neurogated.errors import LLMError, StorageError
from neurogated.evaluation.datasets import SOURCES_KEY, Dataset, Question
from neurogated.evaluation.metrics import PERCENT, latency_table, recall_table
from neurogated.evaluation.qa import exact_match, f1_score
from neurogated.memory import NeuroGraphMemory, show_progress

__all__ = ["RunReport", "config_for", "index", "measure", "run"]

_log = logging.getLogger(__name__)


class _Result(NamedTuple):
    question: Question
    ranked: list[Hashable]
    recall: Recall
    answer: str | None
    """The language model's; None where there is no model or it failed."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run measured and where it wrote it."""

    folder: Path
    recall: pd.DataFrame
    latency: pd.DataFrame
    indexing_seconds: float
    nodes: int
    edges: int
    answers: dict[str, float] | None
    """Exact match and F1 in percent; None without a language model."""

    def metrics(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        return {
            "recall": self.recall.to_dict(orient="index"),
            "latency": self.latency.to_dict(orient="index"),
            "indexing_seconds": self.indexing_seconds,
            "nodes": self.nodes,
            "edges": self.edges,
            "answers": self.answers,
        }


def run(dataset: Dataset, config: MemoryConfig, *, progress: bool | None = None) -> RunReport:
    """Open the memory of `dataset` and `measure` it.

    Args:
        dataset: documents and questions.
        config: settings; `save_dir` is the root of all that is written.
        progress: show bars; None shows them where the output is a terminal.
    """
    with NeuroGraphMemory(config_for(dataset, config)) as memory:
        return measure(dataset, memory, progress=progress)


def config_for(dataset: Dataset, config: MemoryConfig) -> MemoryConfig:
    """Return the settings of the memory of `dataset`: it lies in a folder of its own below `save_dir`."""
    return config.replace(save_dir=str(Path(config.save_dir) / dataset.name))


def index(dataset: Dataset, memory: NeuroGraphMemory, *, progress: bool | None = None) -> list[NeuroGraphMemory]:
    """Put every collection of `dataset` into its namespace, and return the memory of each; nothing is indexed twice."""
    memories = [
        memory if part.namespace is None else memory.in_namespace(part.namespace) for part in dataset.collections
    ]
    for part, one in zip(dataset.collections, memories, strict=True):
        one.add_documents(part.documents, progress=progress)
    return memories


def measure(dataset: Dataset, memory: NeuroGraphMemory, *, progress: bool | None = None) -> RunReport:
    """Index `dataset` into `memory`, ask every question, and write rankings, metrics and settings.

    Each collection goes into the namespace of its name; what is there already is not indexed again. The run is written
    to `<save_dir>/<UTC time>` of the memory's settings.
    """
    begin = time.perf_counter()
    memories = index(dataset, memory, progress=progress)
    indexing_seconds = time.perf_counter() - begin
    asked = [
        (one, question) for part, one in zip(dataset.collections, memories, strict=True) for question in part.questions
    ]
    results = [_ask(one, question) for one, question in show_progress(asked, "asking", "question", progress=progress)]
    views = [one.store.view() for one in memories]
    report = RunReport(
        folder=_new_folder(Path(memory.config.save_dir)),
        recall=recall_table(
            [result.ranked for result in results],
            [result.question.gold for result in results],
            [result.question.kind for result in results],
        ),
        latency=latency_table([result.recall.seconds for result in results]),
        indexing_seconds=indexing_seconds,
        nodes=sum(view.live_nodes().size for view in views),
        edges=sum(view.live_edges().size for view in views),
        answers=_answers(results),
    )
    _write(report, results, memory.config, dataset.name)
    return report


def _ask(memory: NeuroGraphMemory, question: Question) -> _Result:
    ranked, recall = _rank(memory, question.text)
    try:
        answer = memory.answer(recall)
    except LLMError as error:
        _log.warning("question %s has no answer: %s", question.id, error)
        answer = None
    return _Result(question, ranked, recall, answer)


def _answers(results: list[_Result]) -> dict[str, float] | None:
    """Return exact match and F1 in percent over the questions that have answers; one the model left open scores 0."""
    asked = [result for result in results if result.question.answers]
    if not asked or all(result.answer is None for result in asked):
        return None
    scores = {"exact match": exact_match, "F1": f1_score}
    return {
        name: PERCENT * fmean(score(result.answer or "", result.question.answers) for result in asked)
        for name, score in scores.items()
    }


def _rank(memory: NeuroGraphMemory, query: str) -> tuple[list[Hashable], Recall]:
    """Return the data set's names of what `query` recalls, best first, and the recall.

    Several chunks of one passage count once, at the best of their places; so more nodes are asked for until there are
    enough passages, or no more nodes.
    """
    depth = max(memory.config.RANKING_DEPTH, memory.config.TOP_N_RETRIEVAL)
    wanted = depth
    while True:
        recall = memory.recall(query, top_n=wanted)
        ranked: list[Hashable] = list(
            dict.fromkeys(source for recalled in recall for source in recalled.metadata.get(SOURCES_KEY, ()))
        )
        if len(ranked) >= depth or len(recall) < wanted:
            return ranked, recall
        wanted *= 2


def _new_folder(root: Path) -> Path:
    """Make a folder named by the time in UTC, with a number where two runs begin in one second."""
    name = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    for number in itertools.count():
        folder = root / (f"{name}-{number}" if number else name)
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise StorageError(f"cannot make {folder} ({error}); choose another save_dir") from error
        break
    return folder


def _write(report: RunReport, results: list[_Result], config: MemoryConfig, dataset_name: str) -> None:
    with (report.folder / "rankings.jsonl").open("w", encoding="utf-8") as lines:
        for result in results:
            line: dict[str, Any] = {"id": result.question.id, "ranked": result.ranked}
            if result.answer is not None:
                line["answer"] = result.answer
            lines.write(json.dumps(line, ensure_ascii=False) + "\n")
    _write_json(report.folder / "config.json", config.to_dict())
    _write_json(report.folder / "metrics.json", {"dataset": dataset_name, **report.metrics()})


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
