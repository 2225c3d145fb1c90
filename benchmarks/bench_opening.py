"""Opening a memory in a fresh process until the first answer, with its resident memory and disk use."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
from pathlib import Path

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.memories import bytes_in
from benchmarks.synthetic import Synthetic

ROOT = Path(__file__).parents[1]
REPEATS = 3
ADDED_BEFORE_KILL = 200


def _words(what: str, folder: Path, cache: Path, synthetic: Synthetic, settings: dict[str, object]) -> list[str]:
    data = cache / "data" / f"{synthetic.nodes}"
    words = ["-m", "benchmarks.fresh_process", what, folder, data, json.dumps(settings)]
    return [sys.executable, *map(str, words)]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))}


def _measure(benchmark: BenchmarkFixture, words: list[str]) -> None:
    """Run the process a few times; the benchmark's own time is that of the whole process."""
    answers = []

    def run() -> None:
        done = subprocess.run(words, env=_environment(), check=True, capture_output=True, text=True)
        answers.append(json.loads(done.stdout.splitlines()[-1]))

    benchmark.pedantic(run, rounds=REPEATS)
    benchmark.extra_info |= {name: statistics.median(one[name] for one in answers) for name in answers[0]}
    assert benchmark.extra_info["found"] > 0.9


def test_opening(benchmark: BenchmarkFixture, cache: Path, folder: Path, synthetic: Synthetic) -> None:
    note = json.loads((folder / "build.json").read_text(encoding="utf-8"))
    benchmark.extra_info |= {"disk": bytes_in(folder), "build seconds": note["seconds"]}
    _measure(benchmark, _words("answer", folder, cache, synthetic, {}))


def test_opening_after_a_kill(benchmark: BenchmarkFixture, cache: Path, scratch: Path, synthetic: Synthetic) -> None:
    """SIGKILL stops a writer after it added texts; each opening follows another kill."""
    write = [*_words("write", scratch, cache, synthetic, {}), str(ADDED_BEFORE_KILL)]
    answer, answers = _words("answer", scratch, cache, synthetic, {}), []

    def kill() -> None:
        with subprocess.Popen(write, env=_environment(), stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "written\n"
            writer.send_signal(signal.SIGKILL)

    def run() -> None:
        done = subprocess.run(answer, env=_environment(), check=True, capture_output=True, text=True)
        answers.append(json.loads(done.stdout.splitlines()[-1]))

    benchmark.pedantic(run, setup=kill, rounds=REPEATS)
    benchmark.extra_info["answer"] = statistics.median(one["answer"] for one in answers)
