"""Snapshots, exports and compactions beside two writers whose clocks jump by years."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.administration import import_memory, restore_snapshot
from neurogated.compose import build
from neurogated.core.clock import utc_now

NAMES = ("Ada", "Bo")


def _opened(config: MemoryConfig, chance: random.Random) -> NeuroGraphMemory:
    """Open a memory whose clock jumps to another moment of ten years whenever it is read."""
    parts = build(config, lambda: utc_now() + timedelta(days=chance.randrange(-1825, 1825)))
    return NeuroGraphMemory(config, parts=parts)


def _told(memory: NeuroGraphMemory, name: str) -> list[str]:
    """Return all turns of a user, in any order: the order of turns follows their times."""
    return sorted(turn.content for turn in memory.find(user_id=name, kinds=["turn"]))


def _said(name: str, count: int) -> list[str]:
    return [f"{name} saw heron {number:03}." for number in range(count)]


@pytest.mark.parametrize("count", [8, pytest.param(60, marks=[pytest.mark.slow, pytest.mark.nightly])])
def test_copies_have_a_state_that_was_and_no_write_is_lost(tmp_path: Path, count: int) -> None:
    config = MemoryConfig(save_dir=str(tmp_path / "memory"), embedding_name="hash")
    config = config.replace(runtime={"checkpoint_changes": 5})
    NeuroGraphMemory(config).close()
    done = threading.Event()

    def write(name: str) -> None:
        with _opened(config, random.Random(name)) as memory:
            for text in _said(name, count):
                memory.add({"role": "user", "content": text}, user_id=name, session_id=name)
                (gone,) = memory.add(f"{name} wrote a draft.", user_id=name)
                memory.delete(gone)

    def copy() -> int:
        number = 0
        with _opened(config, random.Random(0)) as memory:
            while not done.is_set() or not number:
                memory.admin.snapshot(tmp_path / f"snapshot {number}")
                memory.admin.export(tmp_path / f"export {number}", progress=False)
                memory.admin.compact()
                assert memory.admin.check() == []
                number += 1
        return number

    with ThreadPoolExecutor(3) as pool:
        copying, writing = pool.submit(copy), [pool.submit(write, name) for name in NAMES]
        try:
            for one in writing:
                one.result()
        finally:
            done.set()
        copies = copying.result()
    assert copies > 0
    for number in {0, copies // 2, copies - 1}:
        for kind in ("snapshot", "export"):
            copied = config.replace(save_dir=str(tmp_path / f"{kind} {number} opened"))
            source = tmp_path / f"{kind} {number}"
            restore_snapshot(copied, source) if kind == "snapshot" else import_memory(copied, source)
            with NeuroGraphMemory(copied) as memory:
                assert memory.admin.check() == []
                for name in NAMES:
                    told = _told(memory, name)
                    assert told == _said(name, len(told))
    with NeuroGraphMemory(config) as memory:
        assert memory.admin.check() == []
        for name in NAMES:
            assert _told(memory, name) == _said(name, count)
            assert f"{name} saw heron 007." in memory.retrieve(f"Did {name} see heron 007?", user_id=name)
        sequences = [entry.sequence for entry in memory.store.journal()]
        assert sequences == list(range(1, len(sequences) + 1))
