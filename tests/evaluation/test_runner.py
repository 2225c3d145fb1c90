"""The main job: its files, the correctness of its numbers, and no second indexing."""

from __future__ import annotations

import csv
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.evaluation.baselines import searched
from neurogated.evaluation.datasets import Dataset, load_dataset
from neurogated.evaluation.runner import RunReport, index, run

ROOT = Path(__file__).parents[2]


@pytest.fixture
def sample() -> Dataset:
    return load_dataset("sample", ROOT / "dataset", "hipporag")


def _rankings(report: RunReport) -> dict[Any, list[Any]]:
    lines = (report.folder / "rankings.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["id"]: row["ranked"] for row in map(json.loads, lines)}


def _metrics(report: RunReport) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((report.folder / "metrics.json").read_text(encoding="utf-8"))
    return values


def _memory_of(config: MemoryConfig, dataset: str, namespace: str) -> NeuroGraphMemory:
    return NeuroGraphMemory(config.replace(save_dir=str(Path(config.save_dir) / dataset), namespace=namespace))


def _graph(config: MemoryConfig, dataset: str, namespace: str) -> tuple[dict[str, datetime], int]:
    with _memory_of(config, dataset, namespace) as memory:
        return {node.id: node.created_at for node in memory.store.all_nodes()}, len(list(memory.store.all_edges()))


# The sample


def test_run_writes_rankings_metrics_and_settings(sample: Dataset, config: MemoryConfig) -> None:
    report = run(sample, config)
    assert report.folder.parent == Path(config.save_dir) / "sample"
    written = ["config.json", "metrics.json", "questions.csv", "rankings.jsonl"]
    assert sorted(path.name for path in report.folder.iterdir()) == written
    assert list(_rankings(report)) == [question.id for question in sample.collections[0].questions]
    settings = json.loads((report.folder / "config.json").read_text(encoding="utf-8"))
    assert MemoryConfig.from_mapping(settings) == config.replace(save_dir=str(Path(config.save_dir) / "sample"))
    metrics = _metrics(report)
    assert metrics["dataset"] == "sample"
    assert (metrics["nodes"], metrics["edges"]) == (report.nodes, report.edges)
    assert metrics["recall"] == report.recall
    assert metrics["latency"] == report.latency


def test_plain_searches_of_the_same_memory_are_measured_beside_it(sample: Dataset, config: MemoryConfig) -> None:
    report = run(sample, config, baselines=["dense", "bm25", "hybrid"])
    lines = [json.loads(line) for line in (report.folder / "rankings.jsonl").read_text(encoding="utf-8").splitlines()]
    for name, table in report.baselines.items():
        assert list(table) == list(report.recall)
        for line in lines:
            assert len(set(line["baselines"][name])) == len(line["baselines"][name]) >= 20
        at_five = [len(set(line["baselines"][name][:5]) & set(line["gold"])) / len(line["gold"]) for line in lines]
        assert table["all"]["R@5"] == pytest.approx(100 * sum(at_five) / len(at_five))
        mean, low, high = report.differences[name]["R@5"]
        assert mean == pytest.approx(report.recall["all"]["R@5"] - table["all"]["R@5"])
        assert low <= mean <= high
    with (report.folder / "questions.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["question"] for row in rows] == [line["question"] for line in lines]
    assert [float(row["MRR"]) for row in rows] == [line["MRR"] for line in lines]


def test_dense_is_the_order_of_the_cosines(sample: Dataset, config: MemoryConfig) -> None:
    with _memory_of(config, "sample", "default") as memory:
        index(sample, memory)
        vector = memory.session.parts.embedder.embed_queries(["Why did the herring fail?"])[0]
        nearest = [node.id for node, _ in memory.store.vector_search(vector, 83)]
        found = searched(memory, "Why did the herring fail?", "dense")
        assert found[:20] == nearest[:20]
        assert set(searched(memory, "Why did the herring fail?", "hybrid")) == set(found)


def test_every_ranking_has_twenty_passages_of_the_corpus_and_none_twice(sample: Dataset, config: MemoryConfig) -> None:
    corpus = json.loads((ROOT / "dataset" / "sample_corpus.json").read_text(encoding="utf-8"))
    for ranked in _rankings(run(sample, config)).values():
        assert len(ranked) >= 20
        assert len(set(ranked)) == len(ranked)
        assert set(ranked) <= {row["idx"] for row in corpus}


def test_many_chunks_of_a_passage_count_once_and_do_not_shorten_the_ranking(
    sample: Dataset, config: MemoryConfig
) -> None:
    report = run(sample, config.replace(indexing={"chunk_size": 16, "chunk_overlap": 0}))
    assert report.nodes > 2 * 83
    for ranked in _rankings(report).values():
        assert len(ranked) >= 20
        assert len(set(ranked)) == len(ranked)


def test_second_run_indexes_nothing_and_ranks_the_same(sample: Dataset, config: MemoryConfig) -> None:
    first = run(sample, config)
    graph = _graph(config, "sample", "default")
    second = run(sample, config)
    assert _graph(config, "sample", "default") == graph
    assert (second.nodes, second.edges) == (first.nodes, first.edges) == (len(graph[0]), graph[1])
    assert _rankings(second) == _rankings(first)


# Small data sets


def _locomo_file(folder: Path) -> Path:
    """Write two conversations. The second contains the exact words that the questions about the first ask for."""

    def turns(session: int, *texts: str) -> list[dict[str, str]]:
        return [
            {"speaker": "Ann" if place % 2 else "Bo", "dia_id": f"D{session}:{place}", "text": text}
            for place, text in enumerate(texts, start=1)
        ]

    first = {
        "sample_id": "first",
        "conversation": {
            "session_1": turns(1, "I bought a kayak in spring.", "My sister paints harbours."),
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_2": turns(2, "The kayak leaks already.", "Then patch it with tar."),
        },
        "qa": [
            {"question": "What did Bo buy?", "category": 4, "evidence": ["D1:1"], "answer": "a kayak"},
            {"question": "What is never said?", "category": 5, "evidence": ["D1:1"]},
            {"question": "What should be patched with tar?", "category": 1, "evidence": ["D2:1", "D2:2"], "answer": ""},
        ],
    }
    second = {
        "sample_id": "second",
        "conversation": {"session_7": turns(7, "What did Bo buy?", "What should be patched with tar?", "Bees hum.")},
        "qa": [{"question": "Who hums?", "category": 4, "evidence": ["D7:3"], "answer": "bees"}],
    }
    path = folder / "talk.json"
    path.write_text(json.dumps([first, second]), encoding="utf-8")
    return path


def test_locomo_question_searches_its_own_conversation_only(tmp_path: Path, config: MemoryConfig) -> None:
    _locomo_file(tmp_path)
    report = run(load_dataset("talk", tmp_path, "locomo"), config)
    rankings = _rankings(report)
    assert list(rankings) == ["first:0", "first:2", "second:0"]
    assert set(rankings["first:0"]) == set(rankings["first:2"]) == {"D1:1", "D1:2", "D2:1", "D2:2"}
    assert rankings["second:0"][0] == "D7:3"
    assert set(rankings["second:0"]) == {"D7:1", "D7:2", "D7:3"}


def _hipporag_files(folder: Path, corpus: list[dict[str, Any]], questions: list[dict[str, Any]]) -> Path:
    (folder / "tiny_corpus.json").write_text(json.dumps(corpus), encoding="utf-8")
    path = folder / "tiny.json"
    path.write_text(json.dumps(questions), encoding="utf-8")
    return path


def test_passage_that_stands_twice_is_ranked_under_both_names(tmp_path: Path, config: MemoryConfig) -> None:
    twin = {"title": "Bees", "text": "Bees hum in June."}
    gold = [{"is_supporting": True, "idx": idx} for idx in (0, 2)]
    corpus = [twin, {"title": "Tar", "text": "Tar is black."}, twin]
    _hipporag_files(tmp_path, corpus, [{"id": "q", "question": "Do bees hum?", "paragraphs": gold}])
    report = run(load_dataset("tiny", tmp_path, "hipporag"), config)
    assert report.nodes == 2
    assert _rankings(report) == {"q": [0, 2, 1]}
    assert report.recall["all"]["R@2"] == 100
