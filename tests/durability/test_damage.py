"""A damaged memory returns its true content or raises an error, and nothing else."""

import itertools
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from neurogated import MemoryNode
from neurogated.errors import CorruptMemoryError, StorageError
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.testing import ManualClock
from tests.durability.contents import everything, fill, killed_copy

PAGE = 4096

LONG = [pytest.mark.slow, pytest.mark.nightly]


class Killed(NamedTuple):
    """The files and the content of a memory whose process was killed."""

    folder: Path
    held: list[Any]
    clock: ManualClock

    def open(self, folder: Path, *, read_only: bool = False) -> SqliteStore:
        return SqliteStore.open(folder / "memory.db", clock=self.clock, read_only=read_only)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Killed:
    """A memory with some content in the file and some only in the log."""
    folder, clock = tmp_path_factory.mktemp("killed"), ManualClock()
    with SqliteStore.open(folder / "memory.db", clock=clock) as store:
        fill(store, clock, nodes=12)
        store.engine.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for place in range(6):
            text = f"late {place} " + "stone cloud " * 600
            store.add_node(
                MemoryNode(id=f"late{place}", content=text, embedding=np.ones(1100, dtype=np.float32) * (place + 1))
            )
        held = everything(store)
        copy = killed_copy(folder / "memory.db", folder / "copy").parent
    return Killed(copy, held, clock)


def _flip(content: bytearray, place: int, chance: random.Random) -> None:
    content[place] ^= 1 << chance.randrange(8)


def _cut(content: bytearray, place: int, _: random.Random) -> None:
    del content[place:]


def _cut_at_page(content: bytearray, place: int, _: random.Random) -> None:
    del content[place // PAGE * PAGE :]


def _spoil_page(content: bytearray, place: int, chance: random.Random) -> None:
    page = slice(place // PAGE * PAGE, place // PAGE * PAGE + PAGE)
    content[page] = chance.randbytes(len(content[page]))


def _zero(content: bytearray, *_: object) -> None:
    content[:] = bytes(len(content))


def _spoil(content: bytearray, _: int, chance: random.Random) -> None:
    content[:] = chance.randbytes(len(content))


DAMAGES: tuple[Callable[[bytearray, int, random.Random], None], ...] = (
    *[_flip] * 5, _cut, _cut_at_page, _spoil_page, _zero, _spoil,
)  # fmt: skip


def _place(size: int, chance: random.Random) -> int:
    """Return a random place. Every third is in the header."""
    return chance.randrange(size if chance.randrange(3) else min(size, 120))


def _damaged(killed: Killed, name: str, chance: random.Random, target: Path) -> str:
    """Make a copy with one damaged file and return a description of the damage."""
    shutil.copytree(killed.folder, target)
    file = target / name
    content = bytearray(file.read_bytes())
    if not content:
        file.write_bytes(chance.randbytes(100))
        return "filled with garbage"
    if not chance.randrange(len(DAMAGES)):
        file.unlink()
        return "deleted"
    damage, place = chance.choice(DAMAGES), _place(len(content), chance)
    damage(content, place, chance)
    file.write_bytes(content)
    return f"{damage.__name__} at {place}"


def _outcome(killed: Killed, folder: Path, *, read_only: bool) -> str:
    try:
        with killed.open(folder, read_only=read_only) as store:
            return "same" if everything(store) == killed.held else "WRONG"
    except StorageError as error:
        return "refused" if str(folder / "memory.db") in str(error) else f"WRONG: {error}"


NAMES = ["memory.db", "memory.db-wal", "memory.db-shm", "memory.acknowledged", "memory.open", "memory.lock"]
HARMLESS = {"memory.db-shm", "memory.acknowledged", "memory.open", "memory.lock"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("seed", "cases"), [(11, 48), pytest.param(12, 240, marks=LONG)], ids=["few", "many"])
def test_damage_to_any_file_is_repaired_or_refused(killed: Killed, tmp_path: Path, seed: int, cases: int) -> None:
    chance, outcomes = random.Random(seed), Counter[tuple[str, str]]()
    for case, name in zip(range(cases), itertools.cycle(NAMES), strict=False):
        damage = _damaged(killed, name, chance, tmp_path / str(case))
        read_only = bool(chance.randrange(2))
        outcome = _outcome(killed, tmp_path / str(case), read_only=read_only)
        assert outcome in ({"same"} if name in HARMLESS else {"same", "refused"}), (name, damage, read_only)
        outcomes[name, outcome] += 1
        shutil.rmtree(tmp_path / str(case))
    assert outcomes["memory.db-wal", "refused"], "damage to the log goes by unnoticed"
    assert outcomes["memory.db", "refused"], "damage to the file goes by unnoticed"


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("cut", [1, PAGE // 2, PAGE, 2 * PAGE, 9 * PAGE])
def test_a_file_that_lost_its_end_is_refused_although_its_log_is_there(
    killed: Killed, tmp_path: Path, cut: int, *, read_only: bool
) -> None:
    shutil.copytree(killed.folder, tmp_path / "copy")
    file = tmp_path / "copy" / "memory.db"
    file.write_bytes(file.read_bytes()[:-cut])
    # A missing page at the end may go unnoticed, because the log has a newer version of it.
    assert _outcome(killed, file.parent, read_only=read_only) in {"same", "refused"}
    if cut > 2 * PAGE:
        with pytest.raises(CorruptMemoryError):
            killed.open(file.parent, read_only=read_only)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_lost_log_is_noticed(killed: Killed, tmp_path: Path, *, read_only: bool) -> None:
    shutil.copytree(killed.folder, tmp_path / "copy")
    (tmp_path / "copy" / "memory.db-wal").unlink()
    with pytest.raises(CorruptMemoryError):
        killed.open(tmp_path / "copy", read_only=read_only)


def test_a_lost_file_is_noticed_and_not_recreated(killed: Killed, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(killed.folder, folder)
    (folder / "memory.db").unlink()
    with pytest.raises(CorruptMemoryError):
        killed.open(folder)
    assert not (folder / "memory.db").exists()
    with SqliteStore.open(folder / "memory.db", from_scratch=True) as store:
        assert len(store) == 0


def test_a_torn_write_goes_without_trace(killed: Killed, tmp_path: Path) -> None:
    """A write that a power failure interrupts was not acknowledged."""
    folder = tmp_path / "torn"
    shutil.copytree(killed.folder, folder)
    acknowledged = (folder / "memory.db-wal").stat().st_size
    with killed.open(folder) as store:
        store.add_node(MemoryNode(id="torn", content="torn " * 3000, embedding=np.ones(1100, dtype=np.float32)))
        whole = killed_copy(folder / "memory.db", tmp_path / "whole").parent
    log = (whole / "memory.db-wal").read_bytes()
    for size in {acknowledged, acknowledged + 1, acknowledged + PAGE, len(log) - PAGE, len(log) - 1}:
        assert acknowledged <= size < len(log)
        copy = tmp_path / str(size)
        shutil.copytree(whole, copy)
        (copy / "memory.db-wal").write_bytes(log[:size])
        shutil.copy(killed.folder / "memory.acknowledged", copy)
        assert _outcome(killed, copy, read_only=False) == "same"


def test_a_log_cut_between_two_writes_is_noticed_by_the_note_alone(killed: Killed, tmp_path: Path) -> None:
    """If both the end of the log and the watermark are lost, the loss looks like a crash before the write."""
    folder = tmp_path / "copy"
    shutil.copytree(killed.folder, folder)
    log = (folder / "memory.db-wal").read_bytes()
    (folder / "memory.db-wal").write_bytes(log[: len(log) // 2])
    with pytest.raises(CorruptMemoryError):
        killed.open(folder)
    (folder / "memory.acknowledged").unlink()
    with killed.open(folder) as store:
        assert store.check() == []
        assert 0 < store.view().sequence < killed.held[5][0]


@pytest.mark.parametrize("read_only", [False, True])
def test_another_database_is_refused_and_untouched(tmp_path: Path, *, read_only: bool) -> None:
    path = tmp_path / "memory.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE settings (name, value)")
    before = path.read_bytes()
    with pytest.raises(CorruptMemoryError):
        SqliteStore.open(path, read_only=read_only)
    assert path.read_bytes() == before
