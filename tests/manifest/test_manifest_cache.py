"""When a manifest and its text are rebuilt."""

import queue
import threading
from collections.abc import Callable, Iterator
from datetime import datetime

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.scope import ScopeFilter
from neurogated.core.view import GraphView
from neurogated.manifest.caching import ManifestCache
from neurogated.manifest.creation import ManifestCreator
from tests.manifest.test_manifest import BEES, SAILS

THRESHOLD = 5


@pytest.fixture
def opened(config: MemoryConfig) -> Iterator[Callable[..., NeuroGraphMemory]]:
    """Return a function that opens the memory with settings of its manifest."""
    memories = []

    def open_memory(**settings: int) -> NeuroGraphMemory:
        memories.append(NeuroGraphMemory(config.replace(manifest={"update_threshold": THRESHOLD, **settings})))
        return memories[-1]

    yield open_memory
    for one in memories:
        one.close()


def settle(memory: NeuroGraphMemory) -> None:
    """Wait for the background: all its threads meet, which they do after the tasks before."""
    pool = memory.session.runtime.threads
    meeting = threading.Barrier(pool._max_workers)
    for done in [pool.submit(meeting.wait) for _ in range(meeting.parties)]:
        done.result(timeout=30)


def rebuilt(memory: NeuroGraphMemory) -> int:
    """Return the number of memories in the manifest after the background has rebuilt it."""
    memory.manifest.get()
    settle(memory)
    return memory.manifest.get().nodes


def test_recalls_do_not_change_the_text(opened: Callable[..., NeuroGraphMemory]) -> None:
    memory = opened(cache_ttl_ms=0)
    memory.add([*SAILS, *BEES])
    before, old = memory.manifest.text(), memory.manifest.get()
    for _ in range(100):
        memory.recall("Who mended the sails?")
    memory.session.runtime.accesses.flush()
    memory.add("A stone.")
    rebuilt(memory)
    assert memory.manifest.get().most_used != old.most_used
    assert memory.manifest.text() == before


def test_a_callback_hears_when_the_text_of_its_scope_changes(opened: Callable[..., NeuroGraphMemory]) -> None:
    memory = opened()
    heard = queue.Queue[ScopeFilter]()
    unregister = memory.manifest.on_change(heard.put)
    memory.add(SAILS, user_id="ana")
    before = memory.manifest.text(user_id="ana")
    memory.add(BEES, user_id="bob")
    memory.add(BEES[: THRESHOLD - 1], user_id="ana")
    settle(memory)
    assert heard.empty()
    (last,) = memory.add("A stone.", user_id="ana")
    assert heard.get(timeout=10).user_id == "ana"
    assert memory.manifest.text(user_id="ana") != before
    memory.delete(last)
    assert heard.get(timeout=10).user_id == "ana"
    unregister()
    memory.manifest.text(user_id="ana")
    memory.add(BEES, user_id="ana")
    settle(memory)
    assert heard.empty()


def test_changes_by_another_open_memory_reach_the_manifest(opened: Callable[..., NeuroGraphMemory]) -> None:
    reader, writer = opened(), opened()
    heard = queue.Queue[ScopeFilter]()
    reader.manifest.on_change(heard.put)
    (first, *_) = writer.add(SAILS)
    assert "Quillon" not in reader.manifest.text()
    writer.add([f"The treasure of Quillon has {number} coins." for number in range(THRESHOLD)])
    reader.recall("sails")
    heard.get(timeout=10)
    assert reader.manifest.get().nodes == 8 + THRESHOLD
    assert "Quillon" in reader.manifest.text()
    writer.update(first, "The pump of Zebulon is red.")
    assert any("Zebulon" in word for one in reader.manifest.get().communities for word in one.keywords)
    writer.delete([one.id for one in writer.find() if "Quillon" in one.content])
    assert "Quillon" not in reader.manifest.text()


def test_what_was_forgotten_while_a_manifest_was_checked_is_not_kept_for_the_next_one(
    opened: Callable[..., NeuroGraphMemory], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened()
    memory.add([*SAILS, *BEES])
    memory.manifest.get()
    cache = memory.session.manifests
    starts: list[object] = []
    create = cache._creator.create

    def cleared(*_: object) -> bool:
        cache.clear()
        return False

    def spied(view: GraphView, now: datetime, old: object, start: object) -> object:
        starts.append(start)
        return create(view, now, old, start)  # type: ignore[arg-type]

    monkeypatch.setattr(ManifestCache, "_is_valid", cleared)
    monkeypatch.setattr(ManifestCreator, "create", lambda _, *given: spied(*given))
    memory.manifest.get()
    assert starts == [None]
