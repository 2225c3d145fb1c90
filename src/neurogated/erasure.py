"""Erasing what the log no longer holds from every other place that has received it.

Places in the folder of the memory are known by their names. Places elsewhere are recorded in the log before they
receive anything, so an erasure reaches them with other settings and from other processes, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

from neurogated.compose import FACTS_FILE, canvases_of, is_of_canvases, open_facts
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import SupportsCopies
from neurogated.core.contexts import forget_texts
from neurogated.core.ports import GraphStorePort
from neurogated.core.projections import remove_file, remove_manifests
from neurogated.errors import ConfigError, InputError, MissingExtraError, StorageError
from neurogated.parts import Parts


def erase_copies(graphs: Mapping[str, GraphStorePort], parts: Parts, config: MemoryConfig) -> None:
    """Erase what is in none of the graphs of a memory, which are given by name, from all places and caches.

    Raises:
        StorageError: a place did not confirm it. The message names each such place; the others are erased.
    """
    failed = []
    for place, erase in _places(graphs, parts, config):
        try:
            erase()
        except (OSError, ConfigError, MissingExtraError) as error:
            failed.append(f"{place} ({error})")
    forget_texts()
    if failed:
        raise StorageError(
            f"the memory is compacted, but words of erased memories may remain in {'; '.join(failed)}; compact again "
            "when each of these answers, and name those that no longer exist in `forget`"
        )


def forget_copies(store: GraphStorePort, parts: Parts, places: Collection[str]) -> None:
    """Remove the records of places that no longer exist.

    Raises:
        InputError: a place is not recorded, or the settings name it.
    """
    known = store.copies() if isinstance(store, SupportsCopies) else []
    for place in places:
        if place not in known:
            raise InputError(f"{place!r} has received nothing; recorded are {', '.join(known) or 'no places'}")
        if place in _in_use(parts):
            raise InputError(f"{place!r} is in use; change metabolism.facts_url or metabolism.canvas_url first")
    for place in places:
        if isinstance(store, SupportsCopies):
            store.record_copy(place, exists=False)


def _in_use(parts: Parts) -> set[str | None]:
    return {parts.canvas.place, None if parts.facts is None else parts.facts.place}


def _places(
    graphs: Mapping[str, GraphStorePort], parts: Parts, config: MemoryConfig
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the name of each place, with a function that erases there and raises an error if that fails."""
    for cache in parts.caches:
        yield f"a {type(cache).__name__}", cache.clear
    yield parts.canvas.place or "the canvas", parts.canvas.erase
    file = Path(config.save_dir) / FACTS_FILE
    if parts.facts is not None:
        yield parts.facts.place or str(file), partial(parts.facts.erase, graphs)
    if config.storage != "memory" and (parts.facts is None or parts.facts.place is not None):
        # With these settings, no rows are written into the file. It is rebuilt when others need it.
        yield str(file), partial(remove_file, file)
    yield f"the manifests in {config.save_dir}", partial(remove_manifests, config.save_dir)
    store = next(iter(graphs.values()))
    for place in store.copies() if isinstance(store, SupportsCopies) else ():
        if place not in _in_use(parts):
            yield place, partial(_erase_elsewhere, place, graphs, config)


def _erase_elsewhere(place: str, graphs: Mapping[str, GraphStorePort], config: MemoryConfig) -> None:
    """Erase at a place that the settings do not name."""
    if not is_of_canvases(place):
        open_facts(place, config.metabolism.server_seconds).erase(graphs)
        return
    with closing(canvases_of(place, next(iter(graphs.values())))) as canvases:
        canvases.erase()
