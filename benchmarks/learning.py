"""Whether feedback helps: feedback on half of the questions; all questions are asked before and after.

    python -m benchmarks.learning sample --seeds 5
    python -m benchmarks.learning locomo_conv0-4 --folder DATA --format locomo

Feedback is given on the gold passages of a random half of each collection's questions, in a memory of its own for each
seed. *Sharing* questions share a gold passage with the fed-back half; *held out* are all that were not fed back. The
table has points after minus before, each question with its mean over the seeds, and the 95 % interval over questions.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.evaluation.datasets import FORMATS, SOURCES_KEY, Dataset, Question, dataset_folder, load_dataset
from neurogated.evaluation.gold import PERCENT, paired_bootstrap, recall_at
from neurogated.evaluation.runner import index, rank
from neurogated.session import runtime

CUTOFFS = (2, 5, 10, 20)
GROUPS = ("held out", "sharing", "fed back")


def recalls(memory: NeuroGraphMemory, questions: Sequence[Question]) -> NDArray[np.float64]:
    """Return (questions, cutoffs) recall in percent."""
    rankings = [rank(memory, question.text)[0] for question in questions]
    return np.array(
        [
            [PERCENT * recall_at(ranked, question.gold, k) for k in CUTOFFS]
            for ranked, question in zip(rankings, questions, strict=True)
        ]
    ).reshape(-1, len(CUTOFFS))


def learn(memory: NeuroGraphMemory, questions: Sequence[Question], fed: NDArray[np.bool_]) -> None:
    """Give feedback on the gold passages of the questions `fed`."""
    nodes: dict[object, set[str]] = {}
    for node in memory.store.all_nodes():
        for source in node.metadata.get(SOURCES_KEY, ()):
            nodes.setdefault(source, set()).add(node.id)
    for question, chosen in zip(questions, fed, strict=True):
        if chosen:
            # Sorted, so that the same feedback adds the same edges every time.
            memory.feedback(sorted(set().union(*(nodes[source] for source in question.gold))))


def trial(dataset: Dataset, seed: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the gain of each question, (questions, cutoffs), and its groups, (groups, questions)."""
    generator = np.random.default_rng(seed)
    gains, groups = [], []
    # Without a flush of accesses, asking leaves no trace; only feedback changes the graph.
    runtime.ACCESS_FLUSH_SECONDS = 86_400.0
    with NeuroGraphMemory(MemoryConfig(storage="memory")) as memory:
        for one, part in zip(index(dataset, memory), dataset.collections, strict=True):
            questions = [question for question in part.questions if question.gold]
            fed = np.zeros(len(questions), dtype=bool)
            fed[generator.permutation(len(questions))[: len(questions) // 2]] = True
            taught = frozenset[object]().union(*(q.gold for q, chosen in zip(questions, fed, strict=True) if chosen))
            sharing = np.array([not taught.isdisjoint(question.gold) for question in questions], dtype=bool)
            before = recalls(one, questions)
            learn(one, questions, fed)
            gains.append(recalls(one, questions) - before)
            groups.append([~fed, ~fed & sharing, fed])
    return np.concatenate(gains), np.concatenate(groups, axis=1)


def main() -> None:
    """Print the table of the data set of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--folder", default="dataset")
    parser.add_argument("--format", choices=FORMATS, default="hipporag")
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    folder = dataset_folder(arguments.folder, arguments.dataset)
    dataset = load_dataset(arguments.dataset, folder, arguments.format)
    gains, groups = (
        np.array(part) for part in zip(*(trial(dataset, seed) for seed in range(arguments.seeds)), strict=True)
    )
    print(f"| {dataset.name}, points | " + " | ".join(f"recall@{k}" for k in CUTOFFS) + " |")
    print("|---" * (1 + len(CUTOFFS)) + "|")
    for number, group in enumerate(GROUPS):
        held = groups[:, number]
        chosen = held.any(axis=0)
        if chosen.any():
            # One mean per question keeps the resamples independent.
            means = (gains * held[..., None]).sum(axis=0)[chosen] / held.sum(axis=0)[chosen, None]
            cells = (str(paired_bootstrap(column, np.zeros(column.size))) for column in means.T)
            print(f"| {group} ({held.sum(axis=1).mean():.0f}) | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
