"""The data set of a command."""

import argparse
import sys

from neurogated.evaluation.datasets import Dataset, dataset_folder, load_dataset

__all__ = ["dataset_of"]


def dataset_of(arguments: argparse.Namespace) -> Dataset:
    """Read the data set that the flags name, and print the notes about its files to standard error.

    Raises:
        DatasetError: a file is missing or does not follow its format.
    """
    folder = dataset_folder(arguments.dataset_dir, arguments.dataset)
    dataset = load_dataset(arguments.dataset, folder, arguments.format)
    for note in dataset.notes:
        print(note, file=sys.stderr)
    return dataset
