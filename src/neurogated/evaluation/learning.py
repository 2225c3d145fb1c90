"""Whether feedback helps: feedback on half of the questions; the other half is measured before and after."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neurogated.compose import Parts
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import utc_now
from neurogated.core.delta import GraphDelta
from neurogated.core.extras import import_extra
from neurogated.core.ports import GraphStorePort
from neurogated.errors import ConfigError, DatasetError
from neurogated.evaluation.experiment import Asked, frozen_memories, questions_with_gold, rank_all
from neurogated.evaluation.metrics import COMPARED_CUTOFFS, recall_matrix
from neurogated.evaluation.model import SOURCES_KEY, Dataset
from neurogated.evaluation.records import new_folder, write_json
from neurogated.evaluation.uncertainty import LEVEL, ROUNDS, Interval, paired_bootstrap
from neurogated.memory import NeuroGraphMemory, show_progress
from neurogated.storage.registry import open_store

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = import_extra("pandas", "bench")

__all__ = ["DEFAULT_SEEDS", "GROUPS", "LearningReport", "copy_of", "learn"]

DEFAULT_SEEDS = 5

_HELD_OUT, _SHARING, _RELATED, _UNRELATED, _FED = "held out", "sharing", "related", "unrelated", "fed back"
GROUPS: Mapping[str, str] = {
    _HELD_OUT: "all questions that were not fed back",
    _SHARING: "held-out questions with a gold passage that was fed back",
    _RELATED: "those, and held-out questions with a gold passage that an edge joined to a fed-back one",
    _UNRELATED: "the other held-out questions",
    _FED: "the questions that were fed back",
}
"""The groups that are measured before and after, and the questions of each."""


@dataclass(frozen=True, slots=True)
class LearningReport:
    """The results of a learning experiment, and their folder."""

    folder: Path
    dataset: str
    questions: int
    changed: Sequence[int]
    """How many edges feedback strengthened or added, one number per seed."""
    by_seed: pd.DataFrame
    """A row per seed, group and cutoff: `seed`, `group`, `questions`, `k`, `before`, `after` (recall in percent), and
    `difference`, `low`, `high`: after minus before with its interval over questions, in points."""
    summary: pd.DataFrame
    """A row per group and cutoff: `group`, `questions`, and `before`, `after`, `difference` as means over the seeds;
    `deviation`, the standard deviation of the difference over seeds; and `low`, `high`, the interval of the difference
    over questions. Each question counts with its mean over the seeds that hold it."""

    @property
    def worse(self) -> pd.DataFrame:
        """The rows of the summary where recall fell."""
        return self.summary[self.summary["difference"] < 0]

    def figures(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        worse = self.worse.assign(certain=self.worse["high"] < 0)
        return {
            "dataset": self.dataset,
            "questions": self.questions,
            "interval": {"method": "paired bootstrap over questions", "level": LEVEL, "rounds": ROUNDS},
            "groups": dict(GROUPS),
            "edges changed": list(self.changed),
            "summary": self.summary.to_dict(orient="records"),
            "worse": worse.to_dict(orient="records"),
            "by seed": self.by_seed.to_dict(orient="records"),
        }


@dataclass(frozen=True, slots=True)
class _Trial:
    """One seed: the questions of each group, and every question's recall afterwards."""

    members: Mapping[str, NDArray[np.bool_]]
    after: NDArray[np.float64]
    changed: int


def learn(
    dataset: Dataset, config: MemoryConfig, *, seeds: int = DEFAULT_SEEDS, progress: bool | None = None
) -> LearningReport:
    """Give feedback on the gold passages of a random half of the questions and measure the rest, once per seed.

    Every seed learns in its own copy of the graph. The data set is indexed if it is not yet; the memory does not change
    otherwise. The folder is `<save_dir>/learning-<UTC time>`.

    Args:
        dataset: documents and questions.
        config: settings; `save_dir` is the memory's own folder.
        seeds: the number of random halves; the seeds are 0, 1, ….
        progress: show progress bars; None shows them if the output is a terminal.

    Raises:
        ConfigError: `seeds` is less than 1.
        DatasetError: no collection has two questions with gold passages.
    """
    if seeds < 1:
        raise ConfigError(f"seeds is {seeds}, but must be at least 1")
    asked = questions_with_gold(dataset)
    if len({one.collection for one in asked}) == len(asked):
        raise DatasetError(f"data set {dataset.name!r} has no two questions with gold passages in one collection")
    with frozen_memories(dataset, config, {}, indexed=False, progress=progress) as (parts, memories):
        before = _recalls(memories, asked)
        numbers = show_progress(range(seeds), "learning", "seed", progress=progress)
        trials = [_try(seed, parts, memories, asked) for seed in numbers]
    by_seed = _by_seed(before, trials)
    report = LearningReport(
        folder=new_folder(Path(config.save_dir), "learning-"),
        dataset=dataset.name,
        questions=len(asked),
        changed=[trial.changed for trial in trials],
        by_seed=by_seed,
        summary=_summary(by_seed, before, trials),
    )
    _write(report, config)
    return report


def copy_of(store: GraphStorePort, config: MemoryConfig) -> GraphStorePort:
    """Return a store in memory with the same nodes and edges, bit for bit, in the same order."""
    copy = open_store(config.replace(storage="memory"), utc_now)
    copy.apply(GraphDelta(nodes=tuple(store.all_nodes()), edges=tuple(store.all_edges()), reason="copy"))
    return copy


def _try(seed: int, parts: Parts, memories: Sequence[NeuroGraphMemory], asked: Sequence[Asked]) -> _Trial:
    fed = _random_half(asked, seed)
    copies = [
        NeuroGraphMemory(memory.config, parts=replace(parts, store=copy_of(memory.store, memory.config)))
        for memory in memories
    ]
    changed = 0
    sharing, related = np.zeros((2, len(asked)), dtype=bool)
    for place, memory in enumerate(copies):
        nodes = _nodes_by_source(memory)
        here = [number for number, one in enumerate(asked) if one.collection == place]
        gold = {number: _gold_nodes(asked[number], nodes) for number in here}
        taught = {node for number in here if fed[number] for node in gold[number]}
        near = taught | _neighbours(memory.store, taught)
        for number in here:
            sharing[number] = not taught.isdisjoint(gold[number])
            related[number] = not near.isdisjoint(gold[number])
        changed += sum(memory.feedback(gold[number]) for number in here if fed[number])
        memory.freeze()
    after = _recalls(copies, asked)
    for memory in copies:
        # A copy owns only its store; the next seed uses the other parts again.
        memory.store.close()
    members = {
        _HELD_OUT: ~fed,
        _SHARING: ~fed & sharing,
        _RELATED: ~fed & related,
        _UNRELATED: ~fed & ~related,
        _FED: fed,
    }
    return _Trial(members, after, changed)


def _random_half(asked: Sequence[Asked], seed: int) -> NDArray[np.bool_]:
    """Return which questions are fed back: half of each collection, rounded down."""
    generator = np.random.default_rng(seed)
    owner = np.array([one.collection for one in asked])
    fed = np.zeros(len(asked), dtype=bool)
    for collection in np.unique(owner):
        numbers = np.flatnonzero(owner == collection)
        fed[generator.permutation(numbers)[: numbers.size // 2]] = True
    return fed


def _nodes_by_source(memory: NeuroGraphMemory) -> dict[Hashable, list[str]]:
    """Return the ids of the nodes of each passage of the data set."""
    found: dict[Hashable, list[str]] = {}
    for node in memory.store.all_nodes():
        for source in node.metadata.get(SOURCES_KEY, ()):
            found.setdefault(source, []).append(node.id)
    return found


def _gold_nodes(one: Asked, nodes: Mapping[Hashable, Iterable[str]]) -> list[str]:
    # Sorted, so that the same feedback adds the same edges every time.
    return sorted({node for source in one.question.gold for node in nodes.get(source, ())})


def _neighbours(store: GraphStorePort, nodes: set[str]) -> set[str]:
    """Return the nodes that an edge of any type and direction joins to one of `nodes`."""
    view = store.view()
    rows = view.rows(sorted(nodes))
    edges = view.live_edges()
    source, target = view.edge_source[edges], view.edge_target[edges]
    joined = np.unique(np.concatenate([target[np.isin(source, rows)], source[np.isin(target, rows)]]))
    return {view.ids[row] for row in joined.tolist()}


def _recalls(memories: Sequence[NeuroGraphMemory], asked: Sequence[Asked]) -> NDArray[np.float64]:
    return recall_matrix(rank_all(memories, asked), [one.question.gold for one in asked], COMPARED_CUTOFFS)


def _by_seed(before: NDArray[np.float64], trials: Sequence[_Trial]) -> pd.DataFrame:
    rows = []
    for seed, trial in enumerate(trials):
        for group, chosen in trial.members.items():
            for column, k in enumerate(COMPARED_CUTOFFS):
                old, new = before[chosen, column], trial.after[chosen, column]
                if old.size:
                    figures = {"before": float(old.mean()), "after": float(new.mean())}
                    interval = _columns(paired_bootstrap(new, old))
                    rows.append({"seed": seed, "group": group, "questions": old.size, "k": k, **figures, **interval})
    return pd.DataFrame(rows)


def _summary(by_seed: pd.DataFrame, before: NDArray[np.float64], trials: Sequence[_Trial]) -> pd.DataFrame:
    rows = []
    for group in GROUPS:
        held = np.array([trial.members[group] for trial in trials])
        times = held.sum(axis=0)
        chosen = times > 0
        if not chosen.any():
            continue
        # A question is in several halves; one mean per question keeps the resamples independent.
        gained = np.sum(
            [np.where(trial.members[group][:, None], trial.after - before, 0.0) for trial in trials], axis=0
        )
        mean_gain = gained[chosen] / times[chosen, None]
        for column, k in enumerate(COMPARED_CUTOFFS):
            of_seeds = by_seed[(by_seed["group"] == group) & (by_seed["k"] == k)]
            interval = paired_bootstrap(mean_gain[:, column], np.zeros(len(mean_gain)))
            means = of_seeds[["questions", "before", "after", "difference"]].mean()
            rows.append(
                {
                    "group": group,
                    "k": k,
                    **means.to_dict(),
                    "deviation": float(np.std(of_seeds["difference"], ddof=1)) if len(of_seeds) > 1 else 0.0,
                    "low": interval.low,
                    "high": interval.high,
                }
            )
    return pd.DataFrame(rows)


def _columns(interval: Interval) -> dict[str, float]:
    return {"difference": interval.mean, "low": interval.low, "high": interval.high}


def _write(report: LearningReport, config: MemoryConfig) -> None:
    from neurogated.evaluation.charts import learning_chart  # noqa: PLC0415 - plotting is imported where it is used

    write_json(report.folder / "config.json", config.to_dict())
    write_json(report.folder / "learning.json", report.figures())
    report.by_seed.to_csv(report.folder / "learning.csv", index=False)
    title = f"Recall before and after feedback on {report.dataset} ({len(report.changed)} random halves)"
    learning_chart(report.summary, title, report.folder / "learning")
