"""Working in a file while the database of a memory cannot be reached, and taking the file over when it is back.

There is one truth at a time: a memory that opens in its fallback shows and changes the file alone. The next memory that
reaches the database first replays the log of the file there, and deletes the file.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit
from uuid import uuid4

from neurogated.archive.importing import replay
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import utc_now
from neurogated.errors import MemoryLockedError, UnreachableError
from neurogated.storage.registry import memory_exists, open_alone, open_store

if TYPE_CHECKING:
    from neurogated.storage.graph_store import GraphStore

_TAKEN = ".taken-"
"""In the name of the folder of a fallback whose log the database has; the identity of the file follows."""


class FallbackWarning(UserWarning):
    """A memory works in its fallback, or was taken over from it."""


def reachable(config: MemoryConfig) -> MemoryConfig:
    """Return the settings of the memory to open: `config`, or those of its fallback while its database is away.

    A fallback is the memory of a file in a folder of `save_dir`. If the database is back, it first takes the changes
    over that were written there. Both are announced by a `FallbackWarning`.

    Raises:
        UnreachableError: the database is away, and there is no fallback, or it cannot replace the database: nobody has
            written to it and the memory is read-only, or the memory is to be made from scratch.
        MemoryLockedError: the database is back, but a process still works in the fallback.
        StorageError: the database refuses the changes; the fallback keeps them.
    """
    if not config.fallback or config.storage in ("memory", "sqlite"):
        return config
    parts = urlsplit(config.storage)
    place = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    folder = Path(config.save_dir) / "fallback" / hashlib.sha256(place.encode()).hexdigest()[:16]
    local = config.replace(
        storage="sqlite", save_dir=str(folder), fallback=False, metabolism={"facts_url": None, "canvas_url": None}
    )
    is_kept = not config.force_index_from_scratch or config.read_only
    try:
        memory_exists(config)
    except UnreachableError as error:
        if not is_kept or (config.read_only and not memory_exists(local)):
            raise
        _announce(
            f"{error}; until it is back, this memory works in {local.save_dir} and lacks the memories of the database"
        )
        return local
    if config.read_only:
        if memory_exists(local):
            _announce(
                f"{local.save_dir} has changes that the database lacks; open the memory without read_only to add them"
            )
    elif any(_folders(local)):
        _settle(local, config.replace(force_index_from_scratch=False), takes_over=is_kept)
    return config


def _folders(local: MemoryConfig) -> Iterator[Path]:
    """Yield the folder of the fallback, and those that the database has taken over and nobody has deleted yet."""
    folder = Path(local.save_dir)
    return folder.parent.glob(f"{folder.name}*")


def _settle(local: MemoryConfig, config: MemoryConfig, *, takes_over: bool) -> None:
    # Both stores are of this library.
    with contextlib.closing(cast("GraphStore", open_store(config, utc_now))) as target:
        if memory_exists(local):
            try:
                with open_alone(local) as source:
                    if source is None:
                        # Another process was faster. Its folder is gone, or the lock has made it again.
                        with contextlib.suppress(FileNotFoundError):
                            _set_aside(Path(local.save_dir), uuid4().hex)
                    else:
                        _take_over(cast("GraphStore", source), target, Path(local.save_dir), takes_over=takes_over)
            except MemoryLockedError as error:
                raise MemoryLockedError(
                    f"{config.place} is back, but the fallback has changes that it lacks; {error}"
                ) from error
        for folder in _folders(local):
            if _TAKEN in folder.name:
                _release(target, folder)


def _take_over(source: GraphStore, target: GraphStore, folder: Path, *, takes_over: bool) -> None:
    """Replay the log of a file in the database, in one transaction, and rename the folder of the file."""
    identity = source.identity[0]
    # A process may die between the commit and the renaming.
    if takes_over and _mark(identity) not in target.copies():
        with target.transaction():
            if source.embedder is not None:
                target.bind_embedder(*source.embedder)
            count = sum(replay(source.in_namespace(name), target.in_namespace(name)) for name in source.namespaces())
            target.record_copy(_mark(identity))
        _announce(f"the database is back; {count} changes made meanwhile were added to it")
    _set_aside(folder, identity)


def _set_aside(folder: Path, identity: str) -> None:
    folder.rename(f"{folder}{_TAKEN}{identity}")


def _release(target: GraphStore, folder: Path) -> None:
    """Delete a file that the database has taken over, and the record that prevented a repetition."""
    target.record_copy(_mark(folder.name.rpartition(_TAKEN)[2]), exists=False)
    with contextlib.suppress(FileNotFoundError):
        # Several processes may delete it at once.
        shutil.rmtree(folder)


def _mark(identity: str) -> str:
    return f"the fallback {identity}"


def _announce(message: str) -> None:
    warnings.warn(message, FallbackWarning, stacklevel=5)
