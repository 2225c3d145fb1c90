"""Freed memory."""

import platform
import subprocess
import sys

import pytest

_SCRIPT = """
import ctypes
from neurogated.utils.background import large_blocks_returned

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]

def is_mapped(size):
    # A bit in the size before a block says that it returns to the system when it is freed.
    return bool(ctypes.c_size_t.from_address(libc.malloc(size) - ctypes.sizeof(ctypes.c_size_t)).value & 2)

with large_blocks_returned():
    print(is_mapped(20_000_000), is_mapped(1_000))
print(is_mapped(20_000_000), is_mapped(40_000_000))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc marks such blocks")
def test_large_blocks_return_to_the_system_in_an_import_and_only_the_largest_after_it() -> None:
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False", "False", "True"]
