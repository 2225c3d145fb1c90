"""Settings from file, environment and flags."""

from __future__ import annotations

import argparse
import dataclasses

from neurogated.compose import load_config
from neurogated.config.memory_config import MemoryConfig

__all__ = ["config_of"]


def config_of(arguments: argparse.Namespace) -> MemoryConfig:
    """Return the settings of a command: file, then environment, then flags; the later wins."""
    names = {spec.name for spec in dataclasses.fields(MemoryConfig)}
    flags = {name: value for name, value in vars(arguments).items() if name in names and value is not None}
    return load_config(arguments.config, overrides=flags)
