"""`run`: index a data set, ask its questions, measure recall."""

from __future__ import annotations

import argparse

from neurogated.cli.arguments import add_dataset, add_dataset_folder, add_format, add_top_n
from neurogated.cli.data import dataset_of
from neurogated.cli.opening import config_of, say_how_it_judges
from neurogated.cli.output import emit
from neurogated.cli.tables import grid_text, plain_text
from neurogated.evaluation.metrics import RECALL_CUTOFFS
from neurogated.evaluation.runner import RunReport, config_for, measure
from neurogated.memory import NeuroGraphMemory

__all__ = ["EXAMPLES", "add_arguments", "command", "report_text"]

EXAMPLES = """\
  neurogated bench run --dataset sample
  neurogated bench run --dataset hotpotqa100 --dataset_dir ../shared/data --save_dir /data/runs
  neurogated bench run --dataset locomo_conv0-4 --dataset_dir ../shared/data --format locomo
  neurogated bench run --dataset sample --config settings.yaml --set retrieval.candidates=50 --force_index_from_scratch
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser, required=True)
    add_dataset_folder(parser)
    add_format(parser)
    add_top_n(parser)


def command(arguments: argparse.Namespace) -> int:
    """Measure the data set that the flags name."""
    config = config_of(arguments)
    dataset = dataset_of(arguments)
    with NeuroGraphMemory(config_for(dataset, config)) as memory:
        say_how_it_judges(memory)
        report = measure(dataset, memory)
    emit(arguments, {**report.metrics(), "folder": str(report.folder)}, report_text(report))
    return 0


def report_text(report: RunReport) -> str:
    """Return the results of a run as text."""
    return "\n".join(
        (
            f"{report.nodes} nodes, {report.edges} edges, indexed in {report.indexing_seconds:.1f} s\n",
            "Recall in percent",
            _recall_text(report),
            "\nTime per question",
            plain_text(report.latency, "{:.2f}"),
            *([] if report.answers is None else ["\nAnswers in percent", _pairs(report.answers)]),
            f"\nWritten to {report.folder}",
        )
    )


def _pairs(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {figure:.1f}" for name, figure in figures.items())


def _recall_text(report: RunReport) -> str:
    table = report.recall
    columns = [f"R@{k}" for k in RECALL_CUTOFFS]
    rows = [
        [kind, f"{row['questions']:.0f}", *(f"{row[column]:.1f}" for column in columns)] for kind, row in table.items()
    ]
    return grid_text(["", "questions", *columns], rows)
