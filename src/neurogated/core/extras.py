"""Imports packages that only an extra installs, and reads the data that comes with the package."""

import contextlib
import gzip
import importlib
import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

from neurogated.errors import MissingExtraError


@contextlib.contextmanager
def needs_extra(extra: str, *, use: str = "") -> Iterator[None]:
    """Raise MissingExtraError for a failed import in the block; it names the extra and the purpose of the package."""
    try:
        yield
    except ImportError as error:
        package = (error.name or str(error)).partition(".")[0]
        if package == "neurogated":
            raise  # the fault is ours, and no package is missing
        remedy = f"pip install 'neurogated[{extra}]'{use and f' ({use})'}"
        raise MissingExtraError(f"package {package!r} is not installed; {remedy}", name=package) from error


def import_extra(module: str, extra: str, *, use: str = "") -> Any:  # noqa: ANN401 - a module
    """Import and return a module, such as "transformers.utils.logging"; raises MissingExtraError with the extra."""
    with needs_extra(extra, use=use):
        return importlib.import_module(module)


@contextlib.contextmanager
def no_loading_bar() -> Iterator[None]:
    """Turn off the progress bar of transformers while weights load."""
    logging = import_extra("transformers.utils.logging", "gpu")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def packaged_json(package: str, name: str) -> dict[str, Any]:
    """Return the object in a JSON file of a package; a name that ends in `.gz` is a packed file."""
    data = resources.files(package).joinpath(name).read_bytes()
    return dict(json.loads(gzip.decompress(data) if name.endswith(".gz") else data))
