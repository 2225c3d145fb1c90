"""The main benchmark: index a data set, ask its questions, and write the measurements; answers score as in HippoRAG."""

import csv
import dataclasses
import importlib
import importlib.util
import itertools
import json
import logging
import multiprocessing
import os
import re
import signal
import string
import threading
import time
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.trace import Recall
from neurogated.errors import ConfigError, DatasetError, LLMError, StorageError
from neurogated.evaluation.gold import (
    PERCENT,
    RECALL_CUTOFFS,
    SOURCES_KEY,
    Dataset,
    Interval,
    Question,
    Table,
    latency_table,
    means,
    paired_bootstrap,
    recall_table,
    scores_of,
    searched,
)
from neurogated.memory import NeuroGraphMemory
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.session.runtime import show_progress
from neurogated.text.strings import without_passwords

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize_answer(answer: str) -> str:
    """Return `answer` in lower case, without punctuation, articles and extra white space.

    Source: the SQuAD evaluation (Rajpurkar et al. 2016), which HippoRAG uses too.
    """
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(predicted: str, answers: Sequence[str]) -> float:
    """Return 1 if the normalised prediction equals a normalised answer, else 0."""
    return float(normalize_answer(predicted) in {normalize_answer(answer) for answer in answers})


def f1_score(predicted: str, answers: Sequence[str]) -> float:
    """Return the best F1 of the prediction's words against those of an answer, 0–1."""
    said, best = normalize_answer(predicted).split(), 0.0
    for answer in answers:
        right = normalize_answer(answer).split()
        common = (Counter(said) & Counter(right)).total()
        best = max(best, 2 * common / (len(said) + len(right)) if common else 0.0)
    return best


_log = logging.getLogger(__name__)

_LEAST_DEPTH = 20  # passages in a ranking


class _Result(NamedTuple):
    question: Question
    ranked: list[Hashable]
    recall: Recall
    answer: str | None
    """The language model's answer; None if there is no model or it failed."""
    right: bool | None
    """The language model's grade of the answer; None if it was not asked or failed."""
    plain: dict[str, list[Hashable]]
    """The ranking of each baseline."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """The results of a run, and their folder."""

    folder: Path
    recall: Table
    latency: Table
    indexing_seconds: float
    nodes: int
    edges: int
    answers: Table
    """Exact match, F1, and with a judge graded and right answers, in percent by kind; {} without a model."""
    use: dict[str, int | float]
    """Calls and tokens of the language model, reading while indexing and judging included."""
    baselines: dict[str, Table] = dataclasses.field(default_factory=dict)
    """The recall of each baseline, in the form of `recall`."""
    differences: dict[str, dict[str, Interval]] = dataclasses.field(default_factory=dict)
    """By baseline and figure, the memory minus the baseline over all questions, in points, with its 95 % interval."""

    def metrics(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        figures = dataclasses.asdict(self)
        del figures["folder"]
        return figures


def config_for(dataset: Dataset, config: MemoryConfig) -> MemoryConfig:
    """Return the settings of the memory of `dataset`, which has its own folder below `save_dir`."""
    return config.replace(save_dir=str(Path(config.save_dir) / dataset.name))


def index(dataset: Dataset, memory: NeuroGraphMemory, *, progress: bool | None = None) -> list[NeuroGraphMemory]:
    """Add every collection of `dataset` to its namespace, and return the memories; no document is indexed twice.

    Raises:
        DatasetError: a memory holds passages of an earlier version of the data set; nothing is indexed.
    """
    memories = [
        memory if part.namespace is None else memory.in_namespace(part.namespace) for part in dataset.collections
    ]
    for part, one in zip(dataset.collections, memories, strict=True):
        # The name of a former passage may now belong to another passage, so a recall of it would be scored wrong.
        present = {document.id or document.document_id for document in part.documents}
        nodes = [node for node in one.store.all_nodes() if SOURCES_KEY in node.metadata]
        former = [node for node in nodes if (node.found.document_id or node.id.partition("#")[0]) not in present]
        if former:
            raise DatasetError(
                f"the memory in {one.config.save_dir} holds {len(former)} passages that the data set no longer has; "
                "their passages may bear the names of others, so index from scratch (--force_index_from_scratch) or "
                "choose another --save_dir"
            )
    for part, one in zip(dataset.collections, memories, strict=True):
        one.add_documents(part.documents, progress=progress)
    return memories


def rank(memory: NeuroGraphMemory, query: str, now: datetime | None = None) -> tuple[list[Hashable], Recall]:
    """Return the data set's names of the passages that `query` recalls, best first, and the recall.

    Several chunks of one passage count once, at the best of their ranks. So it asks for more nodes until there are
    enough passages, or no more nodes.
    """
    depth = max(_LEAST_DEPTH, memory.config.TOP_N_RETRIEVAL)
    wanted = depth
    while True:
        recall = memory.recall(query, top_n=wanted, now=now)
        ranked = _passages(recalled.metadata for recalled in recall)
        if len(ranked) >= depth or len(recall) < wanted:
            return ranked, recall
        wanted *= 2


def _passages(metadata: Iterable[Mapping[str, Any]]) -> list[Hashable]:
    return list(dict.fromkeys(source for one in metadata for source in one.get(SOURCES_KEY, ())))


def measure(
    dataset: Dataset, memory: NeuroGraphMemory, *, baselines: Sequence[str] = (), judge: bool = False
) -> RunReport:
    """Index `dataset` into `memory`, ask every question, and write rankings, metrics and settings.

    Each collection goes into the namespace of its name; stored documents are not indexed again. The run is written to
    `<save_dir>/<UTC time>` of the memory's settings.

    Raises:
        ConfigError: there is no language model that could judge.
        DatasetError: the memory holds passages of an earlier version of the data set.
        StorageError: the folder cannot be created.
    """
    model = memory.session.parts.language_model
    if judge and model is None:
        raise ConfigError("no language model is configured, so none can judge; set llm_name or llm_base_url")
    begin = time.perf_counter()
    memories = index(dataset, memory)
    for one in memories:
        one.learning.resume()
    indexing_seconds = time.perf_counter() - begin
    asked = [
        (one, question) for one, part in zip(memories, dataset.collections, strict=True) for question in part.questions
    ]
    shown = show_progress(asked, "asking", "question", progress=None)
    prompts = PromptTemplateManager() if judge else None
    results = [_ask(one, question, baselines, prompts) for one, question in shown]
    views = [one.store.view() for one in memories]
    root = Path(memory.config.save_dir)
    name = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    for number in itertools.count():
        folder = root / (f"{name}-{number}" if number else name)
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise StorageError(f"cannot create {folder} ({error}); choose another save_dir") from error
        break
    golds, kinds = [one.question.gold for one in results], [one.question.kind for one in results]
    rankings = {name: [one.plain[name] for one in results] for name in baselines}
    ours = [one.ranked for one in results]
    report = RunReport(
        folder=folder,
        recall=recall_table(ours, golds, kinds, RECALL_CUTOFFS),
        latency=latency_table([result.recall.seconds for result in results]),
        indexing_seconds=indexing_seconds,
        nodes=sum(view.live_nodes().size for view in views),
        edges=sum(view.live_edges().size + view.computed_edges()[0].size for view in views),
        answers={} if model is None else _answers(results, judge=judge),
        use=memory.usage(),
        baselines={name: recall_table(theirs, golds, kinds, RECALL_CUTOFFS) for name, theirs in rankings.items()},
        differences={name: _differences(ours, theirs, golds) for name, theirs in rankings.items()},
    )
    _write(report, results, memory.config, dataset)
    return report


def _ask(
    memory: NeuroGraphMemory, question: Question, baselines: Sequence[str], judge: PromptTemplateManager | None
) -> _Result:
    """Ask a question. With the prompts of a judge, the model grades its answer as in LoCoMo and LongMemEval."""
    ranked, recall = rank(memory, question.text, question.asked_at)
    model, answer, right = memory.session.parts.language_model, None, None
    try:
        answer = memory.answer(recall) if model else None
        if model and answer is not None and judge and question.answers:
            listed = "\n".join(f"- {one}" for one in question.answers)
            asked = judge.render("grade", kind=question.kind, question=question.text, answers=listed, given=answer)
            with memory.session.runtime.reading():
                right = bool(model.infer_json(asked, judge.schema("grade"))["grade"] == "right")
    except LLMError as error:
        _log.warning("question %s has no answer, or no grade: %s", question.id, error)
    plain = {}
    for name in baselines:
        nodes = memory.store.get_nodes(searched(memory, question.text, name, most=10 * _LEAST_DEPTH))
        plain[name] = _passages(node.metadata for node in nodes)
    return _Result(question, ranked, recall, answer, right, plain)


def _differences(
    ours: Sequence[Sequence[Hashable]], theirs: Sequence[Sequence[Hashable]], golds: Sequence[frozenset[Hashable]]
) -> dict[str, Interval]:
    """Return the mean differences of the figures of two rankings over the questions that have gold passages."""
    asked = [(pair, gold) for *pair, gold in zip(ours, theirs, golds, strict=True) if gold]
    scored = [[scores_of(ranked, gold, RECALL_CUTOFFS) for ranked in pair] for pair, gold in asked]
    names = scored[0][0] if scored else ()
    return {name: paired_bootstrap(*np.transpose([[one[name] for one in pair] for pair in scored])) for name in names}


def _answers(results: Sequence[_Result], *, judge: bool) -> Table:
    """Return the figures over the questions with answers; a missing prediction or grade scores 0."""
    table: dict[str, list[dict[str, float]]] = {}
    for one in results:
        given, answers = one.answer or "", one.question.answers
        figures = {"exact match": exact_match(given, answers), "F1": f1_score(given, answers)}
        figures |= {"graded": float(one.right is not None), "right": float(one.right or 0)} if judge else {}
        for kind in {one.question.kind, "all"} if answers else ():
            table.setdefault(kind, []).append(figures)
    return {
        kind: {"questions": len(rows), **{name: PERCENT * figure for name, figure in means(rows).items()}}
        for kind, rows in sorted(table.items())
    }


def _write(report: RunReport, results: Sequence[_Result], config: MemoryConfig, dataset: Dataset) -> None:
    rows = []
    with (report.folder / "rankings.jsonl").open("w", encoding="utf-8") as lines:
        for result in results:
            asked, recalled = result.question, {one.id: round(one.score, 4) for one in result.recall}
            line: dict[str, Any] = {
                "id": asked.id,
                "question": asked.text,
                "kind": asked.kind,
                "gold": sorted(asked.gold, key=str),
                "ranked": result.ranked,
                "memories": recalled,
                "confidence": round(result.recall.confidence, 4),
                "ms": round(1000 * (sum(result.recall.seconds.values()) - result.recall.seconds["embed"]), 3),
            }
            scores = scores_of(result.ranked, asked.gold, RECALL_CUTOFFS) if asked.gold else {}
            line |= scores | ({"baselines": result.plain} if result.plain else {})
            said = (("answer", result.answer), ("right", result.right))
            line |= {name: value for name, value in said if value is not None}
            lines.write(json.dumps(line, ensure_ascii=False) + "\n")
            rows.append({"id": asked.id, "kind": asked.kind, "question": asked.text, "ms": line["ms"], **scores})
    with (report.folder / "questions.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, max(rows, key=len, default={}))
        table.writeheader()
        table.writerows(rows)
    figures = {"dataset": dataset.name, "notes": list(dataset.notes), **report.metrics()}
    for name, values in (("config", config.to_dict()), ("metrics", figures)):
        text = json.dumps(values, indent=2, ensure_ascii=False)
        (report.folder / f"{name}.json").write_text(f"{without_passwords(text)}\n", encoding="utf-8")


# --- Indexing in several processes -----------------------------------------------------------------------------------
# One process writes a namespace at a time.

_RAY_CLUSTER = "RAY_ADDRESS"
"""The environment variable of Ray that names a cluster."""

_DIED = (
    "a process that indexed has died, perhaps for lack of memory; index again, perhaps with fewer workers: "
    "what is stored stays"
)
_Job = tuple[MemoryConfig, Dataset]
"""Settings, and a data set of one collection."""


def index_in_processes(
    dataset: Dataset, memory: NeuroGraphMemory, workers: int, *, progress: bool | None = None
) -> list[NeuroGraphMemory]:
    """Add every collection of `dataset` to its namespace as `index` does, several at a time.

    Each process opens the memory and embeds, reads and writes whole collections. What was stored stays stored when a
    process dies, and indexing again adds the rest. The processes run on a Ray cluster if `RAY_ADDRESS` names one and
    Ray is installed; then the memory must be a database that all its machines reach.

    So many `workers` run at once. With `progress` None, a bar is shown if the output is a terminal.

    Raises:
        ConfigError: the memory is in RAM, so no other process can open it.
        DatasetError: a memory holds passages of an earlier version of the data set.
        StorageError: a process died.
    """
    if memory.config.storage == "memory":
        raise ConfigError("a memory in RAM belongs to one process; index it without workers, or choose a storage")
    config = memory.config.replace(force_index_from_scratch=False)
    # The longest first, so that no process works alone at the end.
    parts = sorted(dataset.collections, key=lambda part: -len(part.documents))
    jobs: list[_Job] = [(config, replace(dataset, collections=(part,))) for part in parts]
    done = _on_ray(jobs) if os.environ.get(_RAY_CLUSTER) and importlib.util.find_spec("ray") else _here(jobs, workers)
    for _ in show_progress(done, "indexing", "collection", total=len(jobs), progress=progress):
        pass
    return [memory if part.namespace is None else memory.in_namespace(part.namespace) for part in dataset.collections]


def _index(job: _Job) -> None:
    config, part = job
    with NeuroGraphMemory(config) as memory:
        index(part, memory, progress=False)


def _here(jobs: Sequence[_Job], workers: int) -> Iterator[None]:
    """Run the jobs in processes of this machine; yield when one is done."""
    spawn = multiprocessing.get_context("spawn")
    told, parent = spawn.Pipe(duplex=False)
    # The pipe closes before the pool waits for its processes, so an error or Ctrl-C ends them at once.
    # Each process starts with all jobs, and the queue has their numbers only: a job larger than a pipe holds would keep
    # the pool waiting for ever if a process dies before it has read it (Python 3.11).
    with ProcessPoolExecutor(min(workers, len(jobs)), spawn, _begin, (told, jobs)) as pool, closing(parent):
        try:
            started = [pool.submit(_index_job, number) for number in range(len(jobs))]
        # One that dies while the next is started leaves the pool half closed, which Python says in several ways.
        except (BrokenProcessPool, OSError, ValueError) as error:
            raise StorageError(_DIED) from error
        try:
            for one in as_completed(started):
                yield one.result()
        except BrokenProcessPool as error:
            raise StorageError(_DIED) from error


_jobs: list[_Job] = []
"""The jobs of a process of the pool."""


def _index_job(number: int) -> None:
    _index(_jobs[number])


def _begin(parent: Connection, jobs: Sequence[_Job]) -> None:
    """Keep the jobs. End this process when its parent closes the pipe or dies, and at Ctrl-C.

    A memory survives that at any line.
    """

    def end() -> None:
        with suppress(EOFError):
            parent.recv()
        os._exit(1)

    _jobs[:] = jobs
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=end, daemon=True).start()


def _on_ray(jobs: Sequence[_Job]) -> Iterator[None]:
    """Run the jobs as tasks of a Ray cluster, which decides how many at once; yield when one is done."""
    ray: Any = importlib.import_module("ray")
    ray.init()
    try:
        run = ray.remote(_index)
        waiting = [run.remote(job) for job in jobs]
        while waiting:
            (done,), waiting = ray.wait(waiting)
            yield ray.get(done)
    finally:
        ray.shutdown()
