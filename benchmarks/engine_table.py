"""Rows of a table that compares engines; the engines run in turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import quantile

__all__ = [
    "OURS", "QUESTIONS", "WANTED", "Call", "Found", "Keys", "Opener", "Rounds", "best", "compared", "disk_size",
    "held", "made", "openings", "row", "said", "seconds",
]  # fmt: skip

ROUNDS = 3
IN_A_ROW = 10
WANTED = 100
QUESTIONS = 100
OURS = "ours"

Keys = NDArray[np.int64]
Found = tuple[Keys, NDArray[Any]]
Call = Callable[[Any], Any]
Opener = Callable[[Path], Call]
Rounds = dict[str, list[list[float]]]
"""For each engine its milliseconds in each round."""


def compared(calls: Mapping[str, Call], inputs: Sequence[Any]) -> Rounds:
    """Return the milliseconds of each call at each input in each round; the calls run in turn."""
    names = list(calls)
    rounds: Rounds = {name: [] for name in names}
    for value in inputs[:3]:
        for call in calls.values():
            call(value)
    for _ in range(ROUNDS):
        times: dict[str, list[float]] = {name: [] for name in names}
        for turn, begin in enumerate(range(0, len(inputs), IN_A_ROW)):
            for at in range(len(names)):
                name = names[(turn + at) % len(names)]
                some = inputs[begin : begin + IN_A_ROW]
                times[name] += [1000 * seconds(partial(calls[name], value)) for value in some]
        for name in names:
            rounds[name].append(times[name])
    return rounds


def row(what: str, rounds: Rounds, unit: str = "ms", share: float = 0.5) -> None:
    """Print a row of the table: the median over rounds of the quantile `share`, and ratios to ours."""
    cells = []
    of_rounds = {name: [quantile(times, share) for times in some] for name, some in rounds.items()}
    for name, values in of_rounds.items():
        cell = f"{statistics.median(values):.3g} {unit}"
        if name != OURS and OURS in rounds:
            ratios = [theirs / max(own, 1e-9) for theirs, own in zip(values, of_rounds[OURS], strict=True)]
            cell += f" ({statistics.median(ratios):.2f}"
            if len(ratios) > 1:
                cell += f"; {min(ratios):.2f}–{max(ratios):.2f}"
            if len(ratios) > 1 and share == 0.5:
                cell += f"; {_quickest(rounds[name]) / _quickest(rounds[OURS]):.2f}"
            cell += ")"
        cells.append(cell)
    said(what, *cells)


def _quickest(rounds: Sequence[Sequence[float]]) -> float:
    return min(min(times) for times in rounds)


def said(what: str, *cells: str) -> None:
    """Print a row of the table as it is."""
    print(f"| {what} | {' | '.join(cells)} |", flush=True)


def seconds(act: Callable[[], object]) -> float:
    """Return the seconds that one call takes."""
    begin = time.perf_counter()
    act()
    return time.perf_counter() - begin


def disk_size(path: Path) -> float:
    """Return the KiB of a file or folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1024


def held() -> NDArray[np.float64]:
    """Return the MiB of this process: private memory, and mapped files."""
    lines = (line.split() for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines())
    sizes = {line[0]: int(line[1]) / 1024 for line in lines if line[0] in {"RssAnon:", "RssFile:"}}
    return np.array([sizes["RssAnon:"], sizes["RssFile:"]])


def best(keys: Keys, scores: NDArray[Any]) -> Found:
    """Return the best keys with their scores."""
    if keys.size > WANTED:
        chosen = np.argpartition(-scores, WANTED - 1)[:WANTED]
        keys, scores = keys[chosen], scores[chosen]
    order = np.argsort(-scores)
    return keys[order], scores[order]


def opened(opener: Opener, path: Path, questions: Sequence[Any]) -> tuple[float, NDArray[np.float64]]:
    """Return the milliseconds from opening until the first answer, and the memory held after all answers."""
    before, begin = held(), time.perf_counter()
    search = opener(path)
    search(questions[0])
    taken = 1000 * (time.perf_counter() - begin)
    for question in questions:
        search(question)
    return taken, held() - before


def openings(what: str, kinds: Mapping[str, tuple[Opener, Path]], questions: Sequence[Any]) -> None:
    """Print time and memory of opening, each in a fresh process; openers are functions of a module."""
    rounds: Rounds = {name: [] for name in kinds}
    memory = {}
    for _ in range(ROUNDS):
        for name, (opener, path) in kinds.items():
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                taken, memory[name] = pool.submit(opened, opener, path, questions).result()
            rounds[name].append([taken])
    row(f"{what}, up to the first answer", rounds)
    said(f"{what}, memory: own + mapped", *(f"{own:.0f} + {mapped:.0f} MiB" for own, mapped in memory.values()))


def made(folder: Path) -> Path:
    """Create a folder and return it."""
    folder.mkdir()
    return folder
