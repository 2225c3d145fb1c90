"""Settings from file, environment and flags, and the memory they name."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from neurogated.compose import OFFLINE_NOTICE, load_config
from neurogated.config.memory_config import MemoryConfig
from neurogated.config.setting import settings_of
from neurogated.errors import ConfigError, StorageError
from neurogated.memory import NeuroGraphMemory
from neurogated.storage.registry import memory_exists, namespaces_in

__all__ = ["config_of", "graphs_of", "memory_config", "open_memory", "say_how_it_judges"]


def config_of(arguments: argparse.Namespace) -> MemoryConfig:
    """Return the settings of a command: file, then environment, then flags; the later wins."""
    names = {found.name for found in settings_of(MemoryConfig)}
    flags = {name: value for name, value in vars(arguments).items() if name in names and value is not None}
    return load_config(arguments.config, overrides={**flags, **dict(map(_pair, arguments.set))})


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"--set takes NAME=VALUE, such as retrieval.candidates=50, but was given {text!r}")
    return name.strip(), value


def memory_config(arguments: argparse.Namespace) -> MemoryConfig:
    """Return the settings of a command's memory: in the folder of `--dataset` if given, else in `--save_dir`."""
    config = config_of(arguments)
    return config.replace(save_dir=Path(config.save_dir) / arguments.dataset) if arguments.dataset else config


@contextlib.contextmanager
def open_memory(
    arguments: argparse.Namespace, *, create: bool = False, from_scratch: bool = False
) -> Iterator[NeuroGraphMemory]:
    """Open the memory of a command; see `memory_config`.

    Only a command with `from_scratch` obeys `force_index_from_scratch`; no other command may delete the memory.

    Raises:
        StorageError: there is no memory or no such namespace, and `create` is not set.
    """
    config = memory_config(arguments)
    if not from_scratch:
        config = config.replace(force_index_from_scratch=False)
    if not create and not memory_exists(config):
        raise StorageError(
            f"there is no memory in {config.save_dir}; create one with 'index' or 'add', or check --save_dir"
        )
    if not create and config.namespace != MemoryConfig().namespace:
        known = namespaces_in(config)
        if config.namespace not in known:
            raise StorageError(
                f"there is no namespace {config.namespace!r} in {config.save_dir}; there are: {', '.join(known)}"
            )
    with NeuroGraphMemory(config) as memory:
        yield memory


def graphs_of(memory: NeuroGraphMemory, arguments: argparse.Namespace) -> Iterator[tuple[str, NeuroGraphMemory]]:
    """Yield the graph of a command with its name, or with `--all_namespaces` all graphs of the memory."""
    for name in memory.namespaces() if arguments.all_namespaces else [memory.config.namespace]:
        yield name, memory if name == memory.config.namespace else memory.in_namespace(name)


def say_how_it_judges(memory: NeuroGraphMemory) -> None:
    """Print to standard error which model judges questions, causes and names."""
    model, named = memory.stats()["language model"], memory.config.llm_name
    if model is not None:
        notice = f"language model: {model}"
    elif named != MemoryConfig().llm_name:
        notice = f"language model {named!r} has neither key nor llm_base_url, so: {OFFLINE_NOTICE}"
    else:
        notice = OFFLINE_NOTICE
    print(notice, file=sys.stderr)
