"""`learn`: measure whether feedback on some questions helps with others."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset, add_dataset_folder, add_format
from neurogated.cli.data import dataset_of
from neurogated.cli.opening import config_of
from neurogated.cli.output import emit
from neurogated.cli.tables import difference_text, grid_text
from neurogated.evaluation.learning import DEFAULT_SEEDS, GROUPS, LearningReport, learn
from neurogated.evaluation.metrics import signed
from neurogated.evaluation.runner import config_for

__all__ = ["EXAMPLES", "add_arguments", "command", "learning_text"]

EXAMPLES = """\
  neurogated bench learn --dataset sample
  neurogated bench learn --dataset sample --seeds 10 --HEBBIAN_LEARNING_RATE 0.2
  neurogated bench learn --dataset locomo_conv0-4 --dataset_dir ../shared/data --format locomo --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser, required=True)
    add_dataset_folder(parser)
    add_format(parser)
    parser.add_argument(
        "--seeds",
        metavar="N",
        type=int,
        default=DEFAULT_SEEDS,
        help=f"number of random halves, each with its own copy of the graph (default: {DEFAULT_SEEDS})",
    )


def command(arguments: argparse.Namespace) -> int:
    """Run the learning experiment on the data set that the flags name."""
    config = config_of(arguments)
    dataset = dataset_of(arguments)
    report = learn(dataset, config_for(dataset, config), seeds=arguments.seeds)
    emit(arguments, {**report.figures(), "folder": str(report.folder)}, learning_text(report))
    return 0


def learning_text(report: LearningReport) -> str:
    """Return the tables of a learning experiment, and a verdict."""
    changed = ", ".join(map(str, report.changed))
    present = set(report.summary["group"])
    heading = (
        f"{report.questions} questions of {report.dataset}; a random half is fed back, {len(report.changed)} times\n"
        f"edges strengthened or added: {changed}\n"
    )
    legend = (
        "\nRecall in percent, mean over the halves; difference in points ± its standard deviation over the halves,\n"
        "and its 95 % interval over questions; * where it excludes 0\n"
    )
    groups = [
        f"{group}: {meaning}" + ("" if group in present else " (there are none)") for group, meaning in GROUPS.items()
    ]
    seeds = "\nEach half, difference in points\n"
    parts = [heading, *groups, legend, _summary_text(report), seeds, _seeds_text(report), "", *_verdict(report)]
    return "\n".join([*parts, f"\nWritten to {report.folder}"])


def _summary_text(report: LearningReport) -> str:
    rows = []
    for row in report.summary.to_dict(orient="records"):
        change = f"{signed(row['difference'])} ± {row['deviation']:.1f}"
        interval = difference_text(row["difference"], row["low"], row["high"]).split(" ", 1)[1]
        figures = (f"{row['questions']:.0f}", f"R@{row['k']}", f"{row['before']:.1f}", f"{row['after']:.1f}")
        rows.append([str(row["group"]), *figures, change, interval])
    return grid_text(["group", "questions", "", "before", "after", "difference", "interval"], rows)


def _seeds_text(report: LearningReport) -> str:
    frame = report.by_seed
    cutoffs = sorted(set(frame["k"]))
    rows = []
    for (seed, group), part in frame.groupby(["seed", "group"], sort=False):
        of_half = part.sort_values("k").to_dict(orient="records")
        differences = (difference_text(row["difference"], row["low"], row["high"]) for row in of_half)
        rows.append([f"half {seed}, {group}", str(of_half[0]["questions"]), *differences])
    return grid_text(["", "questions", *(f"R@{k}" for k in cutoffs)], rows)


def _verdict(report: LearningReport) -> list[str]:
    """Return a line for each figure that fell, or one line if none did."""
    lines = [
        f"WORSE after feedback: {row['group']}, recall@{row['k']} fell by {-row['difference']:.2f} points"
        + ("" if row["high"] < 0 else " (the interval holds 0, so this could be chance)")
        for row in report.worse.to_dict(orient="records")
    ]
    return lines or ["Nothing got worse after feedback."]
