"""Logging of a command to standard error."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

__all__ = ["LEVELS", "logged_to_stderr"]

LEVELS = ("debug", "info", "warning")
_FORMAT = "%(levelname)s %(name)s: %(message)s"


@contextlib.contextmanager
def logged_to_stderr(level: str) -> Iterator[None]:
    """Write the package's log to standard error, from a level of `LEVELS` on."""
    logger, handler = logging.getLogger("neurogated"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter(_FORMAT))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level.upper())
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)
