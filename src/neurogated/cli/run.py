"""`run`: index a data set, ask its questions, measure recall."""

from __future__ import annotations

import argparse

import pandas as pd

from neurogated.cli.settings import config_of
from neurogated.evaluation.datasets import dataset_folder, load_dataset
from neurogated.evaluation.runner import RunReport
from neurogated.evaluation.runner import run as run_dataset

__all__ = ["command", "print_report"]


def command(arguments: argparse.Namespace) -> int:
    """Run the main job on the data set that the flags name."""
    config = config_of(arguments)
    folder = dataset_folder(arguments.dataset_dir, arguments.dataset)
    dataset = load_dataset(arguments.dataset, folder, arguments.format)
    report = run_dataset(dataset, config)
    print_report(report)
    return 0


def print_report(report: RunReport) -> None:
    """Print what a run measured."""
    print(f"{report.nodes} nodes, {report.edges} edges, indexed in {report.indexing_seconds:.1f} s\n")
    print("Recall in percent")
    print(_text(report.recall, "{:.1f}"))
    print("\nTime per question")
    print(_text(report.latency, "{:.2f}"))
    print(f"\nWritten to {report.folder}")


def _text(table: pd.DataFrame, float_format: str) -> str:
    return table.rename_axis(None).to_string(float_format=float_format.format)
