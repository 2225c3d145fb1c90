"""`ablate`: measure a data set with each part switched off in turn."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from neurogated.cli.arguments import add_dataset, add_dataset_folder, add_format
from neurogated.cli.data import dataset_of
from neurogated.cli.opening import config_of
from neurogated.cli.output import emit
from neurogated.cli.tables import difference_text, grid_text
from neurogated.evaluation.ablation import (
    ALL_QUESTIONS,
    CONTRASTS,
    FULL,
    VARIANTS,
    AblationReport,
    ablate,
    contrast_table,
    select_variants,
)
from neurogated.evaluation.runner import config_for

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EXAMPLES", "ablation_text", "add_arguments", "command"]

EXAMPLES = """\
  neurogated bench ablate --dataset sample
  neurogated bench ablate --dataset locomo_conv0-4 --dataset_dir ../shared/data --format locomo
  neurogated bench ablate --dataset sample --variants no_activation,uniform_kernel --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser, required=True)
    add_dataset_folder(parser)
    add_format(parser)
    names = ", ".join(variant.name for variant in VARIANTS)
    parser.add_argument(
        "--variants", metavar="NAMES", help=f"only these, separated by commas, such as no_activation,one_hop: {names}"
    )


def command(arguments: argparse.Namespace) -> int:
    """Run the ablation on the data set that the flags name."""
    names = arguments.variants
    variants = VARIANTS if names is None else select_variants([name.strip() for name in names.split(",")])
    config = config_of(arguments)
    dataset = dataset_of(arguments)
    report = ablate(dataset, config_for(dataset, config), variants=variants)
    emit(arguments, {**report.figures(), "folder": str(report.folder)}, ablation_text(report))
    return 0


def ablation_text(report: AblationReport) -> str:
    """Return the tables of an ablation."""
    rows = report.rows
    cutoffs = sorted(set(rows["k"]))
    header = ["", *(cell for k in cutoffs for cell in (f"R@{k}", "minus full"))]
    over_all = rows[rows["kind"] == ALL_QUESTIONS]
    heading = (
        f"Recall in percent over {report.questions} questions of {report.dataset}, and points against the full "
        "configuration\nwith the 95 % interval of a paired bootstrap; * where it excludes 0\n"
    )
    cells = [_variant_cells(over_all[over_all["variant"] == variant.name]) for variant in report.variants]
    parts = [heading, grid_text(header, cells)]
    for contrast in CONTRASTS:
        if contrast.without in report.seconds:
            table = contrast_table(rows, contrast.without)
            parts += [f"\n{contrast.title}, in points\n", _contrast_text(table, cutoffs)]
    return "\n".join([*parts, f"\nWritten to {report.folder}"])


def _variant_cells(rows: pd.DataFrame) -> list[str]:
    cells = [str(rows["label"].iloc[0])]
    for row in rows.sort_values("k").to_dict(orient="records"):
        is_full = row["variant"] == FULL.name
        cells += [
            f"{row['recall']:.1f}",
            "" if is_full else difference_text(row["difference"], row["low"], row["high"]),
        ]
    return cells


def _contrast_text(table: pd.DataFrame, cutoffs: list[int]) -> str:
    rows = []
    for kind in dict.fromkeys(table["kind"]):
        of_kind = table[table["kind"] == kind].sort_values("k").to_dict(orient="records")
        differences = (difference_text(row["difference"], row["low"], row["high"]) for row in of_kind)
        rows.append([str(kind), str(of_kind[0]["questions"]), *differences])
    return grid_text(["kind of question", "questions", *(f"R@{k}" for k in cutoffs)], rows)
