"""The main job: its files, its numbers against independent references, and indexing in several processes."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.cli import main
from neurogated.errors import ConfigError, StorageError
from neurogated.evaluation.datasets import Dataset, load_dataset
from neurogated.evaluation.gold import Collection, recall_at, scores_of
from neurogated.evaluation.report import write_report
from neurogated.evaluation.runner import (
    RunReport,
    config_for,
    exact_match,
    f1_score,
    index,
    index_in_processes,
    measure,
    normalize_answer,
)
from neurogated.ingestion.document import Document, Passage
from tests.llm.conftest import Handler, Server, server


def run(dataset: Dataset, config: MemoryConfig, *, baselines: Sequence[str] = (), judge: bool = False) -> RunReport:
    """Open the memory of `dataset`, and return what was measured."""
    with NeuroGraphMemory(config_for(dataset, config)) as memory:
        return measure(dataset, memory, baselines=baselines, judge=judge)


__all__ = ["server"]

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


def test_every_ranking_has_twenty_passages_of_the_corpus_and_none_twice(sample: Dataset, config: MemoryConfig) -> None:
    corpus = json.loads((ROOT / "dataset" / "sample_corpus.json").read_text(encoding="utf-8"))
    for ranked in _rankings(run(sample, config)).values():
        assert len(ranked) >= 20
        assert len(set(ranked)) == len(ranked)
        assert set(ranked) <= {row["idx"] for row in corpus}


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


def test_a_run_without_gold_passages_has_a_page(tmp_path: Path, config: MemoryConfig) -> None:
    (tmp_path / "plain_corpus.json").write_text(json.dumps([{"title": "Bees", "text": "Bees hum."}]), encoding="utf-8")
    (tmp_path / "plain.json").write_text(json.dumps([{"question": "Who hums?", "answer": "bees"}]), encoding="utf-8")
    report = run(load_dataset("plain", tmp_path, "hipporag"), config, baselines=("bm25",))
    assert "<svg" in write_report(report.folder).read_text(encoding="utf-8")


def _judging(server: Server) -> None:
    """Answer each question with "a kayak", and grade it by the words; the first grade is no JSON."""

    def act(handler: Handler) -> None:
        asked = server.requests[-1]["messages"][-1]["content"]
        said: dict[str, Any] = {"thought": "Bo said so.", "answer": "a kayak", "sources": [1]}
        if asked.startswith("Attributes:"):
            said = {"claims": [], "names": [], "causes": []}
        elif "Answer to grade: " in asked:
            right = "- a kayak\n" in asked
            said = {"reason": "It is compared.", "grade": "right" if right else "wrong"}
        text = "Bees hum." if "- bees" in asked else json.dumps(said)
        handler.send(200, handler.message(text, None, (7, 3)))

    server.script.append(act)


def test_a_model_answers_and_grades_over_http_and_failures_and_tokens_are_counted(
    tmp_path: Path, config: MemoryConfig, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _locomo_file(tmp_path)
    talks = json.loads(path.read_text(encoding="utf-8"))
    talks[0]["qa"].append({"question": "Who paints?", "category": 1, "evidence": ["D1:2"], "answer": "the sister"})
    path.write_text(json.dumps(talks), encoding="utf-8")
    _judging(server)
    flags = ("--dataset", "talk", "--dataset_dir", str(tmp_path), "--format", "locomo", "--save_dir", config.save_dir)
    told = ("--embedding_name", "hash", "--llm_base_url", server.url, "--llm_name", "m")
    assert main(["bench", "run", "--judge", "--json", *flags, *told]) == 0
    done = json.loads(capsys.readouterr().out)
    graded = {
        kind: (row["questions"], round(row["graded"]), round(row["right"])) for kind, row in done["answers"].items()
    }
    assert graded == {"all": (3, 67, 33), "category 1": (1, 100, 0), "category 4": (2, 50, 50)}
    lines = map(json.loads, (Path(done["folder"]) / "rankings.jsonl").read_text(encoding="utf-8").splitlines())
    assert {row["id"]: row.get("right") for row in lines} == {
        "first:0": True, "first:2": None, "first:3": False, "second:0": None
    }  # fmt: skip
    assert sum(value for name, value in done["use"].items() if "tokens" in name) == 10 * len(server.requests)


def test_a_judge_without_a_model_is_refused_before_anything_is_indexed(tmp_path: Path, config: MemoryConfig) -> None:
    _locomo_file(tmp_path)
    with pytest.raises(ConfigError, match="no language model"):
        run(load_dataset("talk", tmp_path, "locomo"), config, judge=True)


@given(st.permutations(range(6)), st.frozensets(st.integers(0, 7), min_size=1), st.integers(1, 7))
def test_recall_is_the_share_of_gold_items_found_in_time(ranked: list[int], gold: frozenset[int], k: int) -> None:
    found = 0
    for item in gold:
        if item in ranked and ranked.index(item) < k:
            found += 1
    assert recall_at(ranked, gold, k) == pytest.approx(found / len(gold))


def test_no_gold_passage_among_the_ranked_scores_nothing_and_the_ideal_order_everything() -> None:
    assert set(scores_of([3, 4], {1, 2}, [1, 5]).values()) == {0}
    assert scores_of(list(range(30)), set(range(12)), [20]) == {"R@20": 100, "MRR": 100, "nDCG@10": 100}
    assert set(scores_of([], {1}, [1]).values()) == {0}


@pytest.mark.parametrize(
    ("answer", "normal"),
    [("The Orrskell Light!", "orrskell light"), ("  an   Apple, a pear ", "apple pear"), ("U.S.A.", "usa"), ("", "")],
)
def test_answers_are_normalised_as_in_squad(answer: str, normal: str) -> None:
    assert normalize_answer(answer) == normal


@pytest.mark.parametrize(
    ("predicted", "answers", "expected"),
    [
        ("the Ferry", ["ferry"], 1.0),
        ("a boat", ["ferry", "Boat."], 1.0),
        ("the old ferry", ["ferry"], 0.0),
        ("", ["ferry"], 0.0),
        ("ferry", [], 0.0),
    ],
)
def test_exact_match_takes_any_of_the_answers(predicted: str, answers: list[str], expected: float) -> None:
    assert exact_match(predicted, answers) == expected


@pytest.mark.parametrize(
    ("predicted", "answers", "expected"),
    [
        ("19 October 1922", ["19 October 1922"], 1.0),
        ("October 1922", ["19 October 1922"], 2 * 1.0 * (2 / 3) / (1.0 + 2 / 3)),
        ("in October", ["19 October 1922", "October"], 2 / 3),
        ("ferry ferry", ["ferry"], 2 / 3),
        ("boat", ["ferry"], 0.0),
        ("", [""], 0.0),
        ("boat", [], 0.0),
    ],
)
def test_f1_is_the_harmonic_mean_of_precision_and_recall_of_words(
    predicted: str, answers: list[str], expected: float
) -> None:
    assert f1_score(predicted, answers) == pytest.approx(expected)


CITIES = ("Lyon", "Ghent", "Turin")
SIZES = dict(zip(CITIES, (60, 40, 20), strict=True))


def _collection(city: str, size: int) -> Collection:
    texts = (f"House {n} of {city} has {n + 3} windows." for n in range(size))
    documents = (Document((Passage(text),), id=f"{city} {n}") for n, text in enumerate(texts))
    return Collection(city.replace(" ", "-"), tuple(documents), ())


@pytest.fixture
def cities() -> Dataset:
    return Dataset("cities", tuple(_collection(city, size) for city, size in SIZES.items()))


def _told(memories: list[NeuroGraphMemory]) -> list[tuple[str, set[str], set[tuple[object, ...]]]]:
    return [
        (
            memory.config.namespace,
            {node.id for node in memory.store.all_nodes()},
            {tuple(edge.key) for edge in memory.store.all_edges()},
        )
        for memory in memories
    ]


def test_processes_make_the_same_memory_as_one(cities: Dataset, config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as alone, NeuroGraphMemory(config.replace(save_dir=f"{config.save_dir}2")) as shared:
        assert _told(index_in_processes(cities, shared, 2)) == _told(index(cities, alone))


def test_a_killed_process_is_named_and_indexing_again_adds_the_rest(cities: Dataset, config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory, ThreadPoolExecutor(1) as thread:
        call = thread.submit(index_in_processes, cities, memory, 2)
        while not (children := multiprocessing.active_children()):
            time.sleep(0.01)
        children[0].kill()
        with pytest.raises(StorageError):
            call.result()
        found = _told(index_in_processes(cities, memory, 2))
    assert [(name, len(nodes)) for name, nodes, _ in found] == list(SIZES.items())


_LONG = """
import sys
from tests.evaluation.test_runner import _collection
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.evaluation.gold import Dataset
from neurogated.evaluation.runner import index_in_processes
if __name__ == "__main__":
    data = Dataset("cities", tuple(_collection(f"City {n}", 1500) for n in range(2)))
    with NeuroGraphMemory(MemoryConfig(save_dir=sys.argv[1], embedding_name="hash")) as memory:
        index_in_processes(data, memory, 2, progress=False)
"""


def _spawned(*of_parent: str) -> set[int]:
    """Return the living processes that `multiprocessing` has spawned, perhaps those of one parent."""
    found = subprocess.run(["pgrep", *of_parent, "-f", "multiprocessing-fork"], capture_output=True, check=False)
    return set(map(int, found.stdout.split()))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_its_parent(tmp_path: Path, how: signal.Signals) -> None:
    script, root, folder = tmp_path / "long.py", Path(__file__).parents[2], str(tmp_path / "memory")
    script.write_text(_LONG)
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}:{root}"}
    parent = subprocess.Popen([sys.executable, str(script), folder], env=environment, stderr=subprocess.DEVNULL)
    while len(workers := _spawned("-P", str(parent.pid))) < 2:
        assert parent.poll() is None
        time.sleep(0.05)
    parent.send_signal(how)
    parent.wait(timeout=60)
    while workers & _spawned():
        time.sleep(0.05)
    with NeuroGraphMemory(MemoryConfig(save_dir=folder, embedding_name="hash")) as memory:
        assert not memory.admin.check()
