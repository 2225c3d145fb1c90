"""Writes the tables of docs/measurements/speed.md: `python -m benchmarks.report RESULT.json …`, one file per size."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.targets import FIGURES, TARGETS, Figure, Run, Target

__all__ = ["report"]

PAGE = Path(__file__).parents[1] / "docs" / "measurements" / "speed.md"
BEGIN, END = "<!-- measured -->\n", "<!-- /measured -->"
VERDICTS = {True: "✓", False: "✗", None: ""}


def report(runs: Sequence[Run]) -> str:
    """Return the tables of some runs, the smallest first."""
    runs = sorted(runs, key=lambda run: run.nodes)
    sizes = [f"{run.nodes:,} nodes" for run in runs]
    bars = _table(["target", *sizes], ([bar.figure.what, *(_judged(bar, run) for run in runs)] for bar in TARGETS))
    shown = ([figure.what, *(_shown(figure, run) for run in runs)] for figure in FIGURES)
    figures = _table(["figure", *sizes], (row for row in shown if any(row[1:])))
    reached = [bar.holds(run) for run in runs for bar in TARGETS]
    summary = f"{reached.count(True)} of {reached.count(True) + reached.count(False)} measured targets are met."
    return "\n".join(
        ["", *map(_machine, runs), "", summary, "", bars, "", "Further figures of the same runs:", "", figures, ""]
    )


def _machine(run: Run) -> str:
    machine = run.machine
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    return (
        f"* {run.nodes:,} nodes, {run.when[:10]}: {machine['cpu'].get('brand_raw', 'unknown CPU')}, "
        f"{machine['cpu']['count']} cores, {machine['ram'] / 2**30:.0f} GiB, {machine['os']}, "
        f"Python {machine['python_version']}; load at the start {machine['load']:.1f}; {packages}"
    )


def _judged(bar: Target, run: Run) -> str:
    limit, value = bar.limits.get(run.nodes), _shown(bar.figure, run)
    if limit is None:
        return value
    return f"{VERDICTS[bar.holds(run)]} {value or 'not measured'} ({'≥' if bar.at_least else '≤'} {limit:g})".strip()


def _shown(figure: Figure, run: Run) -> str:
    value = figure.value(run)
    return "" if value is None else f"{_number(value)} {figure.unit}".strip()


def _number(value: float) -> str:
    """Return a number with at least three significant digits."""
    digits = next((digits for digits, least in ((0, 100), (1, 10), (2, 0.1)) if abs(value) >= least), 3)
    return f"{value:,.{digits}f}"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Read the results and replace the part of the page between the markers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path, help="files that pytest-benchmark wrote with --benchmark-json")
    parser.add_argument(
        "--page", type=Path, default=PAGE, help="the page to write into (default: docs/measurements/speed.md)"
    )
    arguments = parser.parse_args()
    runs = [Run(json.loads(path.read_text(encoding="utf-8"))) for path in arguments.results]
    before, _, rest = arguments.page.read_text(encoding="utf-8").partition(BEGIN)
    arguments.page.write_text(f"{before}{BEGIN}{report(runs)}{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
