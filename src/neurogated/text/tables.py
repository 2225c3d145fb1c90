"""Tables of words, patterns and prompts: TOML files beside the modules that read them."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources
from typing import Any


@functools.cache
def table_of(package: str, name: str) -> dict[str, Any]:
    """Return the table in the file `name.toml` of a package. All callers share it, so none may change it."""
    return tomllib.loads(resources.files(package).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
