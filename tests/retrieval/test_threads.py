"""The threads of recalls."""

import os
import threading
from pathlib import Path

from neurogated import MemoryConfig, NeuroGraphMemory


def test_the_namespaces_of_a_memory_share_the_threads_of_their_searches(tmp_path: Path) -> None:
    cores = os.cpu_count() or 1
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")) as memory:
        for number in range(2 * cores + 1):
            tenant = memory.in_namespace(f"tenant-{number}")
            tenant.add("Ann lives in Bergen.")
            assert tenant.recall("Where does Ann live?").ids
        searching = [one for one in threading.enumerate() if one.name.startswith("first-phase")]
    assert len(searching) <= cores
