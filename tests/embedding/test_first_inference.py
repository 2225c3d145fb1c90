"""Several threads use a native library for the first time: one enters alone, the others wait."""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer, models

from neurogated.embedding import local_embedder
from neurogated.embedding.export_cache import ExportCache
from neurogated.embedding.exported_model import ExportedModel, ModelDescription
from neurogated.embedding.library_tokenizer import TOKENIZER_FILE
from neurogated.embedding.local_embedder import LocalEmbedder
from neurogated.embedding.runtimes import SINGLE
from neurogated.embedding.sentence_transformers_embedder import SentenceTransformersEmbedder

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
embedders = [build_embedder(config, cache_home=sys.argv[1]) for _ in range(2)]
with ThreadPoolExecutor() as threads:
    vectors = list(threads.map(lambda embedder: embedder.embed_documents([f"text {i}" for i in range(32)]), embedders))
print(*(each.shape for each in vectors))
"""


@pytest.mark.slow
def test_threads_that_embed_first_in_a_process_do_not_deadlock() -> None:
    command = [sys.executable, "-c", FIRST_USE, os.environ["XDG_CACHE_HOME"]]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == "(32, 384) (32, 384)\n"


class _Session:
    """Counts the active runs. The first run waits until another joins it, or long enough to show that none does."""

    concurrency = 4

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.started = self.under_way = 0
        self.joined = threading.Event()
        self.joined_the_first = False

    def run(self, inputs: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float32]:
        with self.lock:
            self.started += 1
            self.under_way += 1
            first = self.started == 1
            if self.under_way > 1:
                self.joined.set()
        if first:
            self.joined_the_first = self.joined.wait(timeout=0.5)
        with self.lock:
            self.under_way -= 1
        return np.ones((len(inputs["input_ids"]), 2), dtype=np.float32)


class _Runtime:
    """Returns one session for all, because all sessions share the tables of their library."""

    name = "plain"
    package = "numpy"
    files: tuple[str, ...] = ("model.plain",)

    def __init__(self) -> None:
        self.session = _Session()

    def export(self, module: object, example: Mapping[str, object], folder: Path) -> None:
        raise NotImplementedError

    def precision(self) -> str:
        return SINGLE

    def load(self, folder: Path, *, exact: bool) -> _Session:
        assert folder.is_dir() or exact
        return self.session


def _export(draft: Path) -> ModelDescription:
    (draft / "model.plain").write_text("numbers")
    Tokenizer(models.WordLevel({"a": 0}, "a")).save(str(draft / TOKENIZER_FILE))
    prompts = {"document": "", "query": ""}
    return ModelDescription(("input_ids",), 2, 8, {"input_ids": 0}, pads_left=False, prompts=prompts)


def _accept(_: ExportedModel) -> None:
    """Trust the export."""


def test_no_second_inference_begins_before_the_first_of_the_process_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, exports = tmp_path / "model", tmp_path / "exports"
    model.mkdir()
    (model / "config.json").write_text("{}")
    ExportCache(exports, batch_size=1).make(model, _Runtime(), _export, _accept)
    runtime = _Runtime()
    monkeypatch.setattr(local_embedder, "_RUNTIMES", (runtime,))

    def embed(_: int) -> int:
        by_torch = SentenceTransformersEmbedder(str(model), batch_size=1)
        embedder = LocalEmbedder(by_torch, ExportCache(exports, batch_size=1), "auto", on_cpu=True)
        return len(embedder.embed_documents(["a"] * 8))

    with ThreadPoolExecutor() as threads:
        assert list(threads.map(embed, range(3))) == [8, 8, 8]
    assert runtime.session.started == 3 * (1 + 8)
    assert not runtime.session.joined_the_first
