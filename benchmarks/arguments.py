"""The arguments that benchmarks on a data set share."""

from __future__ import annotations

import argparse

from neurogated import MemoryConfig
from neurogated.evaluation.datasets import FORMATS, Dataset, dataset_folder, load_dataset
from neurogated.evaluation.runner import config_for


def dataset_parser(description: str | None, *, optional: bool = False) -> argparse.ArgumentParser:
    """Return a parser of a data set, its folder and format, and the folder of the memory."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", nargs="?" if optional else None)
    parser.add_argument("--folder", default="dataset")
    parser.add_argument("--format", choices=FORMATS, default="hipporag")
    parser.add_argument("--save-dir", default="outputs")
    return parser


def chosen(arguments: argparse.Namespace) -> tuple[Dataset, MemoryConfig]:
    """Return the data set that arguments name, and the settings for its memory."""
    folder = dataset_folder(arguments.folder, arguments.dataset)
    dataset = load_dataset(arguments.dataset, folder, arguments.format)
    return dataset, config_for(dataset, MemoryConfig(save_dir=arguments.save_dir))
