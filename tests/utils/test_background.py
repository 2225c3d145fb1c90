"""Freed memory."""

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = """
import ctypes, sys
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.cli import main

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]

def is_mapped(size):
    # A bit in the size before a block says that it returns to the system when it is freed.
    return bool(ctypes.c_size_t.from_address(libc.malloc(size) - ctypes.sizeof(ctypes.c_size_t)).value & 2)

with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
    before = is_mapped(30_000_000)
    memory.admin.import_from("mem0", sys.argv[1], user_id="ana")
    print(before == is_mapped(30_000_000))
main(["import", sys.argv[1], "--from", "mem0", "--storage", "memory", "--embedding_name", "hash"])
print(is_mapped(30_000_000))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc marks such blocks")
def test_only_an_import_by_the_command_line_changes_how_the_process_returns_memory(tmp_path: Path) -> None:
    export = tmp_path / "mem0.jsonl"
    export.write_text(json.dumps({"id": "1", "memory": "I live in Lyon.", "user_id": "ana"}), encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", _SCRIPT, export], capture_output=True, text=True, check=True)
    lines = done.stdout.split("\n")
    assert (lines[0], lines[-2]) == ("True", "True"), done.stdout
