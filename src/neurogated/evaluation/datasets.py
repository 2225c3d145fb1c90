"""Data sets by name: the formats that can be read, and the bundled data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from neurogated.errors import DatasetError
from neurogated.evaluation.beam import load_beam
from neurogated.evaluation.gold import SOURCES_KEY, Collection, Dataset, Question
from neurogated.evaluation.hipporag import load_hipporag
from neurogated.evaluation.locomo import load_locomo
from neurogated.evaluation.longmemeval import load_longmemeval, load_longmemeval_sessions
from neurogated.evaluation.memdaily import load_memdaily

__all__ = ["BUNDLED", "FORMATS", "SOURCES_KEY", "Collection", "Dataset", "Question", "dataset_folder", "load_dataset"]

BUNDLED = "sample"
"""The data set that comes with the package."""

FORMATS: Mapping[str, Callable[[str, Path], Dataset]] = {
    "beam": load_beam,
    "hipporag": load_hipporag,
    "locomo": load_locomo,
    "longmemeval": load_longmemeval,
    "longmemeval-sessions": load_longmemeval_sessions,
    "memdaily": load_memdaily,
}


def load_dataset(name: str, folder: str | Path, file_format: str) -> Dataset:
    """Read the data set `name` from `folder`.

    Args:
        name: the files are `<name>_corpus.json` and `<name>.json` (hipporag), in the folder `<name>` (beam), or
            `<name>.json`.
        folder: the folder of the files.
        file_format: one of `FORMATS`.

    Raises:
        DatasetError: a file is missing, is not JSON, or lacks a field; the message names file and position.
    """
    if not name or Path(name).name != name or name in {".", ".."}:
        raise DatasetError(f"data set name {name!r} must be a plain name; give the folder as --dataset_dir")
    return FORMATS[file_format](name, Path(folder))


def dataset_folder(folder: str | Path, name: str) -> Path:
    """Return the folder of the data set `name`: `folder`, or the installed folder of the bundled data set."""
    given = Path(folder)
    if name != BUNDLED or (given / f"{name}.json").exists():
        return given
    # In a wheel the sample is in the package, in a checkout at the top of the repository.
    package = Path(__file__).parents[1]
    return next((place for place in (package / "dataset", package.parents[1] / "dataset") if place.is_dir()), given)
