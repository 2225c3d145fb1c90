"""Several threads use a native library for the first time: one enters alone, the others wait."""

import subprocess
import sys

import pytest

# Bindings made with pybind11 read numpy's version when they first convert an array. Meanwhile another thread can run
# Python code.
FIRST_USE = """
import sys
import threading

import numpy.lib


class Version(numpy.lib.NumpyVersion):
    def __init__(self, version: str) -> None:
        threading.Event().wait(0.2)
        super().__init__(version)


numpy.lib.NumpyVersion = Version

from concurrent.futures import ThreadPoolExecutor
from neurogated.config.memory_config import MemoryConfig
from neurogated.embedding.registry import build_embedder

config = MemoryConfig.from_mapping({"embedding.backend": "openvino", "embedding.devices": "cpu"})
embedders = [build_embedder(config) for _ in range(2)]
with ThreadPoolExecutor() as threads:
    vectors = list(threads.map(lambda embedder: embedder.embed_documents([f"text {i}" for i in range(32)]), embedders))
print(*(each.shape for each in vectors))
"""


@pytest.mark.slow
def test_threads_that_embed_first_in_a_process_do_not_deadlock() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == "(32, 384) (32, 384)\n"
