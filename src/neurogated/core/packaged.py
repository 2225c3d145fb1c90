"""Reads the data that comes with the package."""

import gzip
import json
from importlib import resources
from typing import Any


def packaged_json(package: str, name: str) -> dict[str, Any]:
    """Return the object in a JSON file of a package; a name that ends in `.gz` is a packed file."""
    data = resources.files(package).joinpath(name).read_bytes()
    return dict(json.loads(gzip.decompress(data) if name.endswith(".gz") else data))
