"""The learning experiment: copies equal their original, groups are recomputed, and the original is not changed."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pandas as pd
import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.errors import ConfigError, DatasetError
from neurogated.evaluation import learning
from neurogated.evaluation.datasets import SOURCES_KEY, Collection, Dataset
from neurogated.evaluation.experiment import frozen_memories, questions_with_gold, rank_all
from neurogated.evaluation.learning import GROUPS, LearningReport, copy_of, learn
from neurogated.evaluation.runner import config_for, index, run

CUTOFFS = (2, 5, 10, 20)

GraphOf = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def indexed(talks: Dataset, config: MemoryConfig) -> MemoryConfig:
    """Settings of a memory that holds the talks and has learned something."""
    own = config_for(talks, config).replace(learning={"access_flush_seconds": 0.0})
    with NeuroGraphMemory(own) as memory:
        first, _ = index(talks, memory)
        first.feedback([node.id for node in first.store.all_nodes()][::2])
    return own


def _figures(report: LearningReport) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((report.folder / "learning.json").read_text(encoding="utf-8"))
    return values


def test_copy_has_the_same_nodes_and_edges_and_ranks_the_same(talks: Dataset, indexed: MemoryConfig) -> None:
    asked = questions_with_gold(talks)
    with frozen_memories(talks, indexed, {}, indexed=True) as (parts, memories):
        copies = [copy_of(memory.store, indexed) for memory in memories]
        for memory, copy in zip(memories, copies, strict=True):
            assert list(copy.all_nodes()) == list(memory.store.all_nodes())
            assert list(copy.all_edges()) == list(memory.store.all_edges())
        twins = [
            NeuroGraphMemory(memory.config, parts=dataclasses.replace(parts, store=copy))
            for memory, copy in zip(memories, copies, strict=True)
        ]
        assert rank_all(twins, asked) == rank_all(memories, asked)


def test_a_copy_learns_without_its_original(talks: Dataset, indexed: MemoryConfig) -> None:
    with frozen_memories(talks, indexed, {}, indexed=True) as (parts, memories):
        edges = list(memories[0].store.all_edges())
        copy = copy_of(memories[0].store, indexed)
        with NeuroGraphMemory(indexed, parts=dataclasses.replace(parts, store=copy)) as twin:
            assert twin.feedback([node.id for node in copy.all_nodes()]) > 0
            assert list(copy.all_edges()) != edges
            assert list(memories[0].store.all_edges()) == edges


def test_memory_stays_as_it_is(talks: Dataset, indexed: MemoryConfig, graph_of: GraphOf) -> None:
    before = graph_of(indexed, "default", "one", "two")
    learn(talks, indexed, seeds=3, progress=False)
    assert graph_of(indexed, "default", "one", "two") == before


def test_every_seed_begins_with_the_same_graph(
    talks: Dataset, indexed: MemoryConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[tuple[list[Any], list[Any]]] = []

    def noting(*arguments: Any) -> Any:  # noqa: ANN401 - as the original's
        copy = copy_of(*arguments)
        begun.append((list(copy.all_nodes()), list(copy.all_edges())))
        return copy

    monkeypatch.setattr(learning, "copy_of", noting)
    report = learn(talks, indexed, seeds=3, progress=False)
    assert begun == begun[:2] * 3
    # If all questions of a half have one gold passage each, that half teaches nothing.
    assert any(changed > 0 for changed in report.changed)


def test_the_same_seeds_give_the_same_figures(talks: Dataset, indexed: MemoryConfig) -> None:
    first, second = (learn(talks, indexed, seeds=2, progress=False) for _ in range(2))
    pd.testing.assert_frame_equal(first.by_seed, second.by_seed)
    assert first.changed == second.changed


def _halves(dataset: Dataset, seeds: int) -> Iterator[np.ndarray[Any, Any]]:
    asked = questions_with_gold(dataset)
    yield from (learning._random_half(asked, seed) for seed in range(seeds))


def test_half_of_each_collection_is_fed_back_and_another_half_by_another_seed(talks: Dataset) -> None:
    halves = list(_halves(talks, 8))
    for fed in halves:
        assert (fed[:4].sum(), fed[4:].sum()) == (2, 1)
    assert len({tuple(fed.tolist()) for fed in halves}) > 1


def test_groups_and_recalls_agree_with_an_independent_reckoning(
    sample: Dataset, config: MemoryConfig, graph_of: GraphOf
) -> None:
    own = config_for(sample, config)
    with NeuroGraphMemory(own) as memory:
        index(sample, memory)
        # With all its edges, the sample has no two unrelated questions.
        others = tuple(edge.key for edge in memory.store.all_edges() if edge.type is not EdgeType.SEQ)
        memory.store.apply(GraphDelta(removed_edges=others))
    lines = (run(sample, own.replace(save_dir=config.save_dir)).folder / "rankings.jsonl").read_text("utf-8")
    rankings = {row["id"]: row["ranked"] for row in map(json.loads, lines.splitlines())}
    ((nodes, edges, *_),) = graph_of(own)
    sources = {node.id: set(node.metadata[SOURCES_KEY]) for node in nodes}
    joined: dict[Any, set[Any]] = {}
    for edge in edges:
        for one, other in ((edge.source_id, edge.target_id), (edge.target_id, edge.source_id)):
            for source in sources[one]:
                joined.setdefault(source, set()).update(sources[other])
    report = learn(sample, own, seeds=2, progress=False)
    questions = [one.question for one in questions_with_gold(sample)]
    for seed, fed in enumerate(_halves(sample, 2)):
        taught = {gold for question, chosen in zip(questions, fed, strict=True) if chosen for gold in question.gold}
        near = taught.union(*(joined.get(gold, set()) for gold in taught))
        rest = [question for question, chosen in zip(questions, fed, strict=True) if not chosen]
        groups = {
            "held out": rest,
            "sharing": [question for question in rest if question.gold & taught],
            "related": [question for question in rest if question.gold & near],
            "unrelated": [question for question in rest if not question.gold & near],
            "fed back": [question for question, chosen in zip(questions, fed, strict=True) if chosen],
        }
        assert list(groups) == list(GROUPS)
        assert groups["unrelated"], "a group that holds nothing is not tried"
        for group, members in groups.items():
            rows = report.by_seed[(report.by_seed["seed"] == seed) & (report.by_seed["group"] == group)]
            assert list(rows["k"]) == list(CUTOFFS)
            assert set(rows["questions"]) == {len(members)}
            for k, before in zip(rows["k"], rows["before"], strict=True):
                found = [
                    len(set(rankings[question.id][:k]) & question.gold) / len(question.gold) for question in members
                ]
                assert before == pytest.approx(100 * fmean(found))


def test_summary_is_the_mean_over_seeds_with_its_spread(sample: Dataset, sample_config: MemoryConfig) -> None:
    report = learn(
        sample, sample_config.replace(learning={"assoc_weight": 1.0}, ACTIVATION_WEIGHT=2.0), seeds=3, progress=False
    )
    assert report.by_seed["difference"].any()
    for row in report.summary.to_dict(orient="records"):
        seeds = report.by_seed[(report.by_seed["group"] == row["group"]) & (report.by_seed["k"] == row["k"])]
        for name in ("questions", "before", "after", "difference"):
            assert row[name] == pytest.approx(fmean(seeds[name]))
        assert row["deviation"] == pytest.approx(stdev(seeds["difference"]))
        assert row["difference"] == pytest.approx(row["after"] - row["before"])
        assert row["low"] <= row["high"]


def test_groups_that_got_worse_are_named(sample: Dataset, sample_config: MemoryConfig) -> None:
    # If activation outweighs similarity, feedback raises the confirmed memories for every question.
    harmful = sample_config.replace(
        learning={"assoc_weight": 1.0},
        retrieval={"switches": {"never_back": False}, "gate_exponent": 0.0, "selectivity": 0.0},
        ACTIVATION_WEIGHT=50.0,
        SIMILARITY_WEIGHT=0.0,
    )
    report = learn(sample, harmful, seeds=2, progress=False)
    fallen = report.summary[report.summary["difference"] < 0]
    assert not fallen.empty
    worse = _figures(report)["worse"]
    assert [(row["group"], row["k"]) for row in worse] == list(zip(fallen["group"], fallen["k"], strict=True))
    assert [row["certain"] for row in worse] == [high < 0 for high in fallen["high"]]


def test_folder_holds_all_that_is_promised(talks: Dataset, indexed: MemoryConfig) -> None:
    report = learn(talks, indexed, seeds=2, progress=False)
    assert re.fullmatch(r"learning-\d{8}T\d{6}Z(-\d+)?", report.folder.name)
    assert report.folder.parent == Path(indexed.save_dir)
    names = ["config.json", "learning.csv", "learning.json", "learning.png", "learning.svg"]
    assert sorted(path.name for path in report.folder.iterdir()) == names
    figures = _figures(report)
    assert (figures["dataset"], figures["questions"], len(figures["edges changed"])) == ("talks", 6, 2)
    assert figures["by seed"] == report.by_seed.to_dict(orient="records")


@pytest.mark.parametrize("storage", ["sqlite", "memory"])
def test_a_data_set_that_was_never_indexed_is_indexed_first(talks: Dataset, config: MemoryConfig, storage: str) -> None:
    own = config_for(talks, config).replace(storage=storage)
    report = learn(talks, own, seeds=1, progress=False)
    assert report.by_seed["before"].max() > 0
    assert set(report.summary["deviation"]) == {0.0}


def test_less_than_one_seed_is_refused(talks: Dataset, config: MemoryConfig) -> None:
    with pytest.raises(ConfigError, match="seeds is 0, but must be at least 1"):
        learn(talks, config, seeds=0, progress=False)


def test_data_set_without_two_questions_in_a_collection_is_refused(talks: Dataset, config: MemoryConfig) -> None:
    lonely = tuple(Collection(part.namespace, part.documents, part.questions[:1]) for part in talks.collections)
    for collections in (lonely, ()):
        with pytest.raises(DatasetError, match="no two questions"):
            learn(Dataset("lonely", collections), config, progress=False)


@pytest.mark.slow
def test_sample_with_the_bundled_model_is_measured_before_and_after(sample: Dataset, tmp_path: Path) -> None:
    report = learn(sample, config_for(sample, MemoryConfig(save_dir=str(tmp_path))), seeds=2, progress=False)
    before = {(row["group"], row["k"]): row["before"] for row in _figures(report)["summary"]}
    assert before["held out", 20] > 70
    assert all(changed > 0 for changed in report.changed)
