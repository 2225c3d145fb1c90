"""Opens the memory of a command by its flags, and says numbers and values for people and scripts."""

import contextlib
import difflib
import json
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any, TypedDict

import click

from neurogated.components.manifest import Owners
from neurogated.config.memory_config import MemoryConfig
from neurogated.config.setting import settings_of
from neurogated.core.model import MemoryNode
from neurogated.core.scope import ANY_USER
from neurogated.core.trace import PathStep, Recall
from neurogated.errors import EmbedderMismatchError, StorageError
from neurogated.evaluation.datasets import BUNDLED
from neurogated.memory import NeuroGraphMemory
from neurogated.session.compose import OFFLINE_NOTICE, load_config
from neurogated.session.fallback import FallbackWarning, reachable
from neurogated.storage.registry import memory_exists, namespaces_in
from neurogated.text.strings import composed


def counted(count: int, things: str) -> str:
    """Return a number with the words of its plural, whose first word is singular after a 1: `1 memory deleted`."""
    noun, space, rest = things.partition(" ")
    one = f"{noun.removesuffix('ies')}y" if noun.endswith("ies") else noun.removesuffix("s")
    return f"{count} {one if count == 1 else noun}{space}{rest}"


def picked(value: object, names: str) -> dict[str, Any]:
    """Return the attributes of a value that have these names, separated by spaces."""
    return {name: getattr(value, name) for name in names.split()}


def recall_json(recall: Recall) -> dict[str, Any]:
    """Return a recall as JSON values."""
    kernel = picked(recall.kernel, "weights against justification")
    for name in ("weights", "against"):
        kernel[name] = {kind.name: weight for kind, weight in kernel[name].items()}
    memories = [
        {
            **node_json(recalled.node, recalled.same_as),
            **picked(recalled, "score parts contributions"),
            "found": recalled.node.found.to_json(),
            "path": [_step_json(step) for step in recalled.path],
            "flows": [_step_json(step) for step in recalled.flows],
        }
        for recalled in recall
    ]
    return {
        **picked(recall, "query confidence trust notes states"),
        "kernel": kernel,
        "memories": memories,
        "conflicts": [picked(one, "id question") for one in recall.conflicts],
    }


def node_json(node: MemoryNode, same_as: Iterable[str]) -> dict[str, Any]:
    """Return a memory with the ids of those that say the same as JSON values."""
    return {**picked(node, "id content title role speaker timestamp metadata"), "same_as": list(same_as)}


def _step_json(step: PathStep) -> dict[str, Any]:
    return {"source": step.source_id, "target": step.target_id, "type": step.type.name, **picked(step, "weight flow")}


SETTINGS = {found.name: found for found in settings_of(MemoryConfig) if "." not in found.name}
"""The settings that are flags of every command."""


class OwnerFlags(TypedDict):
    """A user and a session, None if not given."""

    user_id: str | None
    session_id: str | None


def shown(text: str) -> None:
    """Print a text at once; raises StorageError if there is no room for it, and BrokenPipeError if nobody reads it."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        # Python's flush at exit must not raise again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise StorageError(f"the output cannot be written: {error.strerror}; all finished writes are stored") from None


class Flags:
    """The flags of a command that its function does not take itself: settings, memory, owner and output."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)
        self.show: Callable[[str], object] = shown
        self.json: bool = values["json"]
        self.dataset: str | None = values.get("dataset")
        self.dataset_dir: str = values.get("dataset_dir", "dataset")
        self.format: str = values.get("format", "hipporag")
        self.owner: OwnerFlags = {"user_id": values.get("user_id"), "session_id": values.get("session_id")}
        every = ANY_USER if values.get("all_users") else None
        if every and self.owner["user_id"] is not None:
            raise click.UsageError("give either --user_id or --all_users")
        self.reader = Owners(user_id=every or self.owner["user_id"], session_id=self.owner["session_id"])

    def config(self) -> MemoryConfig:
        """Return the settings: file, then environment, then flags; the later wins."""
        flags = {name: self._values[name] for name in SETTINGS if self._values[name] is not None}
        with _told(FutureWarning):  # of settings that are gone
            return load_config(self._values["config"], overrides={**flags, **dict(self._values["set"])})

    def memory_config(self) -> MemoryConfig:
        """Return the settings of the memory: in the folder of `--dataset` if given, else in `--save_dir`."""
        config = self.config()
        return config.replace(save_dir=Path(config.save_dir) / self.dataset) if self.dataset else config

    @contextlib.contextmanager
    def open_sample(self, *, in_memory: bool = False) -> Iterator[NeuroGraphMemory]:
        """Open the memory of the sample, in a folder of its own whatever database or server the settings name.

        With `in_memory`, it writes no files. Raises StorageError if it cannot be opened, or another embedding model
        built it.
        """
        config, plain = self.config(), MemoryConfig()
        folder = Path(config.save_dir) / BUNDLED
        in_memory = in_memory or config.storage == "memory"
        if not in_memory and config.storage != plain.storage:
            print(f"the sample is in {folder}, not in {config.place}", file=sys.stderr)
        own = {name: getattr(plain, name) for name in ("namespace", "read_only", "require_user")}
        own["storage"] = "memory" if in_memory else plain.storage
        try:
            memory = NeuroGraphMemory(
                config.replace(save_dir=folder, metabolism={"facts_url": None, "canvas_url": None}, **own)
            )
        except EmbedderMismatchError as error:
            raise StorageError(f"{error}; or delete {folder}, the sample, to index it again") from None
        with memory:
            yield memory

    @contextlib.contextmanager
    def open(
        self, *, create: bool = False, from_scratch: bool = False, serves: bool = False
    ) -> Iterator[NeuroGraphMemory]:
        """Open the memory; see `memory_config`.

        A command that `serves` people elsewhere has days in UTC unless the settings name a zone. Only a command with
        `from_scratch` obeys `force_index_from_scratch`; no other command may delete the memory. Raises StorageError if
        there is no memory or no such namespace, and `create` is not set.
        """
        config = self.memory_config()
        if not from_scratch:
            config = config.replace(force_index_from_scratch=False)
        if serves and config.timezone is None:
            config = config.replace(timezone="UTC")
        with _told(FallbackWarning):
            # Opening the memory need not ask the database again.
            config = reachable(config).replace(fallback=False)
        if not create and not memory_exists(config):
            raise StorageError(
                f"there is no memory in {config.place}; create one by 'index' or 'add', or check --save_dir, --storage"
            )
        if not create and config.namespace != MemoryConfig().namespace:
            known = namespaces_in(config)
            if config.namespace not in known:
                raise StorageError(
                    f"there is no namespace {config.namespace!r} in {config.place}; there are: {', '.join(known)}"
                )
        with NeuroGraphMemory(config) as memory:
            yield memory
            waiting = {task.nodes[0] for task in memory.store.pending()} - memory.learning.parked().keys()
            if waiting:
                how = "'neurogated index --resume' asks it, and --set llm.wait=true does as texts are added"
                print(f"waiting for a language model: {counted(len(waiting), 'memories')}; {how}", file=sys.stderr)

    def note_unknown_user(self, memory: NeuroGraphMemory) -> None:
        """Print to standard error that the user of the command has no memories, with the names of users like hers."""
        user_id = self.owner["user_id"]
        if user_id is not None and (known := memory.admin.users()) and composed(user_id) not in known:
            near = " or ".join(map(repr, difflib.get_close_matches(user_id, known)))
            print(f"the user {user_id!r} has no memories" + f"; did you mean {near}?" * bool(near), file=sys.stderr)

    def graphs_of(self, memory: NeuroGraphMemory) -> Iterator[tuple[str, NeuroGraphMemory]]:
        """Yield the graph of the command with its name, or with `--all_namespaces` all graphs of the memory."""
        for name in memory.admin.namespaces() if self._values["all_namespaces"] else [memory.config.namespace]:
            yield name, memory if name == memory.config.namespace else memory.in_namespace(name)

    def emit(self, value: Any, text: str) -> None:  # noqa: ANN401 - JSON
        """Print `value` as JSON where `--json` was given, else `text`."""
        self.show(json.dumps(value, ensure_ascii=False, indent=2, default=plain) if self.json else text)


@contextlib.contextmanager
def _told(kind: type[Warning]) -> Iterator[None]:
    with warnings.catch_warnings(record=True) as announced:
        warnings.simplefilter("always", kind)
        yield
    for one in announced:
        print(f"warning: {one.message}", file=sys.stderr)


@contextlib.contextmanager
def logged_to_stderr(level: str) -> Iterator[None]:
    """Write the log of the package to standard error, from a level on."""
    logger, handler = logging.getLogger("neurogated"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level.upper())
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)


def say_how_it_judges(memory: NeuroGraphMemory) -> None:
    """Print to standard error which model judges questions, causes and names."""
    model, named = memory.admin.stats()["language model"], memory.config.llm_name
    if model is not None:
        notice = f"language model: {model}"
    elif named != MemoryConfig().llm_name:
        notice = f"language model {named!r} has neither key nor llm_base_url, so: {OFFLINE_NOTICE}"
    else:
        notice = OFFLINE_NOTICE
    print(notice, file=sys.stderr)


def plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a value that JSON does not know as one that it knows: an object as its fields, a scope as its user."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    fields = dict(value) if isinstance(value, Mapping) else picked(value, " ".join(value.__dataclass_fields__))
    scope = fields.pop("scope", None)
    return fields if scope is None else {**fields, "user_id": scope.user_id}
