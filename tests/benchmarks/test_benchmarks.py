"""The benchmarks run, their measured calls answer correctly, and the report has a figure for every target."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
NODES, LINKS, WORDS = 300, 3, 12
# These need a Python with Chroma.
OPTIONAL = {"test_chroma"}


def _data(file: Path) -> None:
    """Write a small set of the data that `benchmarks.synthetic` describes."""
    rng = np.random.default_rng(4)
    pairs = {(node, int(older)) for node in range(1, NODES) for older in rng.integers(node, size=LINKS)}
    edges = np.array(sorted(pairs), dtype=np.int32)
    vectors = rng.standard_normal((NODES, 384), np.float32)
    np.savez(
        file,
        edges=edges,
        weights=rng.uniform(0.1, 1, len(edges)).astype(np.float32),
        types=rng.integers(0, 4, len(edges)).astype(np.int8),
        vectors=vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
        words=rng.integers(1, 2000, (NODES, WORDS)).astype(np.int32),
    )


def _python(*words: str | Path) -> subprocess.CompletedProcess[str]:
    # A test worker is not a benchmark. Benchmarks refuse to measure beside each other.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = f"{ROOT / 'src'}"
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run every benchmark on a tiny memory and return the written results."""
    folder = tmp_path_factory.mktemp("benchmarks")
    _data(folder / "data.npz")
    texts = ("The pump failed on Monday.", "Because the pump failed, the field was flooded.")
    passages = [{"title": f"Log {place}", "text": text} for place, text in enumerate(texts)]
    (folder / "passages.json").write_text(json.dumps(passages), encoding="utf-8")
    places: list[str | Path] = [
        "--cache",
        folder / "cache",
        "--synth",
        folder / "data.npz",
        "--passages",
        folder / "passages.json",
        "--long-texts",
        folder / "missing.json",
    ]
    sizes = f"--nodes {NODES} --pairs 10 --documents 5 --rounds 3 --long-characters 20000".split()
    result = folder / "result.json"
    done = _python("-m", "pytest", "benchmarks", "--benchmark-only", *sizes, *places, "--benchmark-json", result)
    assert done.returncode == 0, done.stdout
    return result


@pytest.fixture(scope="module")
def noted(result: Path) -> dict[str, dict[str, Any]]:
    """Return the notes of each measurement."""
    written = json.loads(result.read_text(encoding="utf-8"))
    return {one["name"]: one["extra_info"] for one in written["benchmarks"]}


@pytest.mark.nightly
def test_every_benchmark_was_run(noted: dict[str, dict[str, Any]]) -> None:
    listed = _python("-m", "pytest", "benchmarks", "--collect-only", "-q").stdout
    names = set(re.findall(r"::(test_\S+)", listed))
    assert names - OPTIONAL - {name for name in names if "quantised" in name} <= noted.keys() <= names


@pytest.mark.nightly
def test_measured_calls_answered_correctly(noted: dict[str, dict[str, Any]]) -> None:
    assert noted["test_vectors_ours"]["recall@10"] == 1
    assert noted["test_vectors_numpy"]["recall@10"] == 1
    assert noted["test_vectors_faiss[flat]"]["recall@10"] == 1
    assert noted["test_pairs_of_add_and_recall"]["found"] == 1
    for name in ("test_recall", "test_opening", "test_keywords_ours", "test_keywords_matrix"):
        assert noted[name]["found"] > 0.9
    assert noted["test_opening"]["disk"] > NODES * 384 * 4
    assert noted["test_opening"]["rss"] >= noted["test_opening"]["pss"] > 0
    assert noted["test_indexing"]["passages"] == 2
    assert noted["test_long_document[prose]"]["real"]
    assert noted["test_long_document[markdown]"]["characters"] == 20_000


@pytest.mark.nightly
def test_the_report_goes_between_its_marks_and_judges_every_bar(result: Path, tmp_path: Path) -> None:
    written = json.loads(result.read_text(encoding="utf-8"))
    written["machine_info"]["nodes"] = 100_000
    large, page = tmp_path / "large.json", tmp_path / "page.md"
    large.write_text(json.dumps(written), encoding="utf-8")
    page.write_text("before\n<!-- measured -->\nold\n<!-- /measured -->\nafter\n", encoding="utf-8")
    assert _python("-m", "benchmarks.report", large, result, "--page", page).returncode == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- measured -->\n")
    assert text.endswith("<!-- /measured -->\nafter\n")
    assert "old" not in text
    assert "| target | 300 nodes | 100,000 nodes |" in text
    judged = [line.split(" | ")[2] for line in text.splitlines() if "(≤ " in line or "(≥ " in line]
    assert len(judged) >= 12
    assert all(cell.startswith(("✓ ", "✗ ")) for cell in judged)
    (found,) = [line for line in text.splitlines() if line.startswith("| texts that the next recall found |")]
    assert found == "| texts that the next recall found | 100 % | ✓ 100 % (≥ 100) |"


@pytest.mark.slow
def test_the_scripts_of_recall_measure_the_sample(tmp_path: Path) -> None:
    ablation = _python("-m", "benchmarks.ablation", "sample", "--save-dir", tmp_path, "--variants", "no_activation")
    assert re.search(r"^\| no_activation \| [\d.]+ \(", ablation.stdout, re.MULTILINE), ablation.stderr
    learning = _python("-m", "benchmarks.learning", "sample", "--seeds", "1")
    assert re.search(r"^\| held out \(34\) \| [+-]", learning.stdout, re.MULTILINE), learning.stderr
