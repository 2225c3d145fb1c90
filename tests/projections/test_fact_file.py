"""The file of the facts delays no write, gets its lost rows back, and is never left locked."""

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory, compose
from neurogated.projections.fact_table import FactTable
from neurogated.storage.graph_store import GraphStore
from tests.projections.rows import fact, put, reference, rows_in


@pytest.fixture
def file(config: MemoryConfig) -> Path:
    return Path(config.save_dir) / "facts.db"


def values(file: Path) -> list[str]:
    return sorted(row["value"] for row in rows_in(f"sqlite:///{file}"))


@pytest.mark.parametrize("hold", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_program_that_holds_the_file_delays_no_write(
    config: MemoryConfig, file: Path, hold: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A write that waited for the file would wait for ten minutes.
    monkeypatch.setattr(compose, "FACTS_SECONDS", 600.0)
    with NeuroGraphMemory(config) as memory:
        ids = [memory.facts.add("Ana", "pet", name) for name in ("a heron", "a cat")]
        other = sqlite3.connect(file, isolation_level=None)
        other.execute(hold)
        for number in range(5):
            memory.facts.add("Ana", f"number {number}", number)
        memory.delete(ids[0])
        memory.update(ids[1], importance=0.9)
        other.execute("ROLLBACK")
        other.close()
        memory.facts.catch_up()
        assert values(file) == sorted(str(one.value) for one in memory.facts.list())


def _interrupt_at(step: int) -> Callable[..., Any]:
    """Return a tracer that interrupts at a line of SQLAlchemy."""
    left = [step]

    def trace(frame: FrameType, event: str, _: object) -> Any:  # noqa: ANN401
        if "sqlalchemy" not in frame.f_code.co_filename:
            return None
        if event == "line":
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
        return trace

    return trace


def test_an_interrupt_within_the_library_leaves_the_file_free(tmp_path: Path, store: GraphStore) -> None:
    file = tmp_path / "facts.db"
    table = FactTable(file, seconds=0.5)
    store.apply(put(fact("f")))
    table.catch_up(store, "default")
    kept = []
    for number, step in enumerate(range(1, 4000, 37)):
        store.apply(put(fact("g", str(number))))
        before = sys.gettrace()
        sys.settrace(_interrupt_at(step))
        try:
            table.catch_up(store, "default")
        except KeyboardInterrupt as error:
            # Its traceback refers to the connection, as it does for a caller that handles the interrupt.
            kept.append(error)
        finally:
            sys.settrace(before)
        other = sqlite3.connect(file, timeout=0.0, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
        other.close()
    assert len(kept) > 20
    table.catch_up(store, "default")
    assert rows_in(f"sqlite:///{file}") == reference(store)
