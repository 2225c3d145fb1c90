"""Opens the places outside a memory's log that receive its texts or ids, by their URLs."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from neurogated.core.extras import import_extra
from neurogated.core.projections import FactProjection, SharedCanvases

_CANVASES = frozenset({"redis", "rediss", "unix"})


def is_of_canvases(place: str) -> bool:
    """Return whether a URL is that of a server of canvases; otherwise it is a database of facts."""
    return urlsplit(place).scheme in _CANVASES


def open_facts(url: str | Path, seconds: float) -> FactProjection:
    """Return the table of facts in a file or a database, which is opened on its first use.

    Raises:
        ConfigError: the URL is of another kind.
        MissingExtraError: a package is not installed.
    """
    table: FactProjection = import_extra("neurogated.projections.fact_table", "facts").FactTable(url, seconds=seconds)
    return table


def open_canvases(url: str, memory: str, seconds: float, lifetime: float) -> SharedCanvases:
    """Return the canvases of a memory on a server, which is reached at the first call; see `RedisCanvases`.

    Raises:
        ConfigError: the URL is of another kind.
        MissingExtraError: a package is not installed.
    """
    canvases: SharedCanvases = import_extra("neurogated.projections.redis_canvases", "redis").RedisCanvases(
        url, memory, seconds=seconds, lifetime=lifetime
    )
    return canvases
