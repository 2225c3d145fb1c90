"""Commands, data sets and installation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*words: str, source: str = str(ROOT / "src")) -> subprocess.CompletedProcess[str]:
    """Run Python at the top of a checkout."""
    variables = {**os.environ, "PYTHONPATH": source}
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=variables, text=True, capture_output=True, check=False, timeout=240
    )


def outcome(done: subprocess.CompletedProcess[str]) -> tuple[int, str]:
    return done.returncode, done.stdout + done.stderr


def test_the_memory_is_imported_from_main() -> None:
    done = run("-c", "from main import NeuroGraphMemory; print(NeuroGraphMemory.__module__)")

    assert outcome(done) == (0, "neurogated.memory\n")


def test_the_parts_of_main_are_imported_from_main() -> None:
    names = "GraphStore, MemoryConfig, NeuroGraphMemory, NeuroRetriever, PlasticityEngine"

    assert outcome(run("-c", f"from main import {names}")) == (0, "")


def test_a_checkout_runs_without_being_installed(tmp_path: Path) -> None:
    # So the requirements are found, but not the additions of an editable installation.
    requirements = sysconfig.get_path("purelib")
    flags = ["--dataset", "sample", "--embedding_name", "hash", "--save_dir", str(tmp_path)]
    code, text = outcome(run("-S", "main.py", *flags, source=requirements))

    assert code == 0, text
    where = run("-S", "-c", "import main, neurogated; print(neurogated.__file__)", source=requirements)
    assert outcome(where) == (0, f"{ROOT / 'src' / 'neurogated' / '__init__.py'}\n")


@pytest.mark.parametrize(
    "flags",
    [
        ["--dataset", "sample", "--llm_name", "gpt-4o-mini"],
        ["--dataset", "sample", "--force_index_from_scratch", "true"],
    ],
)
def test_the_sample_is_run(flags: list[str], tmp_path: Path) -> None:
    code, text = outcome(run("main.py", *flags, "--embedding_name", "hash", "--save_dir", str(tmp_path)))

    assert code == 0, text
    assert "Recall" in text


@pytest.mark.parametrize(
    "flag",
    ["--dataset", "--llm_name", "--embedding_name", "--llm_base_url", "--force_index_from_scratch"],
)
def test_every_flag_of_the_commands_is_known(flag: str) -> None:
    from neurogated.cli.measuring import run

    context = run.make_context("run", ["--dataset", "sample", flag, "true"])

    assert context.params[flag.removeprefix("--")] == "true"


def test_the_corpus_loads_as_in_the_snippet() -> None:
    dataset_name = ROOT / "dataset" / "sample"
    with Path(f"{dataset_name}_corpus.json").open(encoding="utf-8") as f:
        corpus = json.load(f)
    docs = [f"{doc['title']}\n{doc['text']}" for doc in corpus]

    assert len(docs) == len(corpus)
    assert [doc["idx"] for doc in corpus] == list(range(len(corpus)))


def test_the_questions_load_as_in_the_snippet() -> None:
    with (ROOT / "dataset" / "sample.json").open(encoding="utf-8") as f:
        samples = json.load(f)
    queries = [s["question"] for s in samples]

    assert all(queries)
    for sample in samples:
        assert sample.keys() >= {"id", "question", "answer", "paragraphs"}
        assert isinstance(sample["answer"], list)
        for paragraph in sample["paragraphs"]:
            assert paragraph.keys() >= {"title", "text", "is_supporting", "idx"}


def test_a_data_set_of_ones_own_is_read(tmp_path: Path) -> None:
    from neurogated.evaluation.datasets import load_dataset

    corpus = [{"title": "Document Title", "text": "Document content.", "idx": 0}]
    paragraph = {"title": "Document Title", "text": "Document content.", "is_supporting": True, "idx": 0}
    queries = [{"id": "q1", "question": "Query text?", "answer": ["Answer 1", "Answer 2"], "paragraphs": [paragraph]}]
    (tmp_path / "mine_corpus.json").write_text(json.dumps(corpus), encoding="utf-8")
    (tmp_path / "mine.json").write_text(json.dumps(queries), encoding="utf-8")

    dataset = load_dataset("mine", tmp_path, "hipporag")

    assert [question.text for collection in dataset.collections for question in collection.questions] == ["Query text?"]
