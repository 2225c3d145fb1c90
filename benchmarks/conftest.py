"""Options and fixtures of the benchmarks; see docs/measurements/speed.md."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import synthetic as synthetic_data
from benchmarks.memories import GivenVectors, built, copied, open_memory
from benchmarks.synthetic import Synthetic
from neurogated import NeuroGraphMemory

SHARED = Path(__file__).parents[2] / "shared"
PACKAGES = (
    "apsw", "chromadb", "faiss-cpu", "igraph", "networkx", "neurogated", "numpy", "onnxruntime", "openvino", "scipy",
    "sentence-transformers", "tantivy", "torch", "usearch",
)  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options for sizes and folders."""
    group = parser.getgroup("neurogated")
    add = group.addoption
    add("--nodes", type=int, default=10_000, help="size of the memory (default: 10000)")
    add("--synth", type=Path, default=SHARED / "bench" / "synth.py", help="script that makes the data, or a .npz file")
    add("--cache", type=Path, default=Path.home() / ".cache" / "neurogated-bench", help="folder of data and memories")
    add("--pairs", type=int, default=1000, help="alternating adds and recalls (default: 1000)")
    add("--documents", type=int, default=500, help="texts added to measure the cost of one (default: 500)")
    add("--rounds", type=int, default=200, help="rounds of maintenance (default: 200)")
    add(
        "--passages",
        type=Path,
        default=SHARED / "data" / "2wikimultihopqa_corpus.json",
        help="passages in HippoRAG's format, for indexing with the real model",
    )
    add("--passage-count", type=int, default=300, help="how many of them are indexed; 0: all (default: 300)")
    add(
        "--long-texts",
        type=Path,
        default=SHARED / "data" / "beam_odd.json",
        help="chats in BEAM's format; their long Markdown answers are indexed as one text",
    )
    add("--long-characters", type=int, default=1_000_000, help="length of a long text (default: 1000000)")
    add("--chroma", default=None, help="a Python with chromadb; without it Chroma is skipped")


def pytest_benchmark_update_machine_info(config: pytest.Config, machine_info: dict[str, Any]) -> None:
    """Record the machine and the packages."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    machine_info |= {"ram": pages, "os": platform.platform(), "packages": versions, "nodes": config.getoption("nodes")}
    machine_info["load"] = os.getloadavg()[0]


@pytest.fixture(scope="session")
def cache(pytestconfig: pytest.Config) -> Path:
    """Return the folder of data, memories and their copies."""
    return pytestconfig.getoption("cache")


@pytest.fixture(scope="session")
def synthetic(pytestconfig: pytest.Config, cache: Path) -> Synthetic:
    """Return the data of this size."""
    return synthetic_data.load(cache, pytestconfig.getoption("nodes"), pytestconfig.getoption("synth"))


@pytest.fixture(scope="session")
def folder(cache: Path, synthetic: Synthetic) -> Path:
    """Return the folder of the read-only memory of the data."""
    return built(cache, synthetic)


@pytest.fixture(scope="module")
def scratch(cache: Path, folder: Path) -> Iterator[Path]:
    """Return the folder of a copy that may change."""
    with copied(folder, cache / "scratch") as copy:
        yield copy


@pytest.fixture(scope="module")
def embedder() -> GivenVectors:
    """Return the embedder of a module's memory."""
    return GivenVectors()


@pytest.fixture(scope="module")
def memory(folder: Path, embedder: GivenVectors) -> Iterator[NeuroGraphMemory]:
    """Open the memory frozen."""
    with open_memory(folder, embedder) as opened:
        opened.freeze(lasting=False)
        yield opened


@pytest.fixture(scope="module")
def changed(scratch: Path, embedder: GivenVectors) -> Iterator[NeuroGraphMemory]:
    """Open the copy that may change."""
    with open_memory(scratch, embedder) as opened:
        yield opened
