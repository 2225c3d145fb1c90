"""Only the owner of a memory may read its files, whatever the umask allows."""

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.config.groups import RuntimeSettings

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")


def modes(folder: Path) -> dict[str, int]:
    return {
        str(one.relative_to(folder)): stat.S_IMODE(one.stat().st_mode) & ~(0o700 if one.is_dir() else 0o600)
        for one in folder.rglob("*")
    }


@pytest.fixture
def open_to_all() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_to_all")
def test_new_files_and_folders_are_private_and_existing_ones_keep_their_mode(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(0o755)
    for folder in (shared, tmp_path / "new" / "deeper"):
        config = MemoryConfig(
            save_dir=str(folder), embedding_name="hash", runtime=RuntimeSettings(checkpoint_changes=1)
        )
        with NeuroGraphMemory(config) as memory:
            memory.add([f"Ana has {count} parrots." for count in range(20)], user_id="ana")
            memory.facts.add("Ana", "city", "Lyon", user_id="ana")
            memory.recall("How many parrots has Ana?", user_id="ana")
            memory.admin.export(folder / "export")
            memory.admin.export_user("ana", folder / "ana.json")
            memory.admin.snapshot(folder / "snapshot.graph")
            assert set(modes(folder).values()) == {0}, modes(folder)
        assert set(modes(folder).values()) == {0}, modes(folder)
        assert {"facts.db", "ana.json", "snapshot.graph"} < modes(folder).keys()
        assert any("checkpoint" in name or "index" in name for name in modes(folder)), modes(folder).keys()
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
