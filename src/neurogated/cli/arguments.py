"""Flags that several commands share."""

import argparse

from neurogated.evaluation.datasets import FORMATS

__all__ = ["add_dataset", "add_dataset_folder", "add_format", "add_top_n"]


def add_dataset(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """Add the flag that names a data set, and with it the memory made of it."""
    parser.add_argument(
        "--dataset", metavar="NAME", required=required, help="name of the data set: its files, and its memory's folder"
    )


def add_dataset_folder(parser: argparse.ArgumentParser) -> None:
    """Add the flag that says where data sets lie."""
    parser.add_argument(
        "--dataset_dir", metavar="DIR", default="dataset", help="folder of the data set's files (default: dataset)"
    )


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the flag that says how a data set is written."""
    parser.add_argument(
        "--format",
        choices=tuple(FORMATS),
        default="hipporag",
        help="hipporag: <dataset>_corpus.json and <dataset>.json; locomo: <dataset>.json (default: hipporag)",
    )


def add_top_n(parser: argparse.ArgumentParser) -> None:
    """Add the short name of the setting that says how many memories are returned."""
    parser.add_argument("--top_n", dest="TOP_N_RETRIEVAL", default=None, help="same as --TOP_N_RETRIEVAL")
