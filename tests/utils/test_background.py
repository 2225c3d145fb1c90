"""Freed memory."""

import ctypes
import platform

import pytest

from neurogated.utils.background import large_blocks_returned

_IS_MAPPED = 2
"""The bit in the size before a block of glibc that says that the block returns to the system when it is freed."""


def _is_returned(size: int) -> bool:
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.restype, libc.free.argtypes = None, [ctypes.c_void_p]
    block = libc.malloc(size)
    try:
        return bool(ctypes.c_size_t.from_address(block - ctypes.sizeof(ctypes.c_size_t)).value & _IS_MAPPED)
    finally:
        libc.free(block)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc marks such blocks")
def test_blocks_of_64_kb_return_to_the_system_in_an_import_and_larger_ones_after_it() -> None:
    with large_blocks_returned():
        assert _is_returned(100_000)
        assert not _is_returned(10_000)
    assert not _is_returned(1_000_000)
    assert _is_returned(40_000_000)
