"""The embedding model in this package. OpenVINO runs it on the CPU, without torch."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from neurogated.core.forking import InheritedLock, bind_to_process
from neurogated.embedding.exported_model import ExportedModel
from neurogated.embedding.language_watch import LanguageWatch
from neurogated.embedding.openvino_runtime import load_graph
from neurogated.embedding.sentence_transformers_embedder import SentenceTransformersEmbedder
from neurogated.embedding.vectors import LOADING, has_accelerator
from neurogated.embedding.word_pieces import WordPieceTokenizer

BUNDLED_FOLDER = Path(__file__).with_name("all-MiniLM-L6-v2")
GRAPH_FILE = "model.xml"
DESCRIPTION_FILE = "description.json"
VOCABULARY_FILE = "vocab.txt"

# Texts of one width in a batch, measured in docs/adr/0013.
_BATCH_SIZE = 8


def load_bundled(*, exact: bool, folder: Path = BUNDLED_FOLDER) -> ExportedModel:
    """Return the bundled model after a first inference; the caller holds `LOADING`.

    Args:
        exact: whether to compute in single precision even if another precision is faster.
        folder: the folder that `tools/bundle_model.py` wrote.

    Raises:
        OSError: a file cannot be read.
        EmbeddingError: OpenVINO cannot load the model.
    """
    sizes = json.loads((folder / DESCRIPTION_FILE).read_text(encoding="utf-8"))
    tokenizer, graph = WordPieceTokenizer(folder / VOCABULARY_FILE), load_graph(folder / GRAPH_FILE, exact=exact)
    model = ExportedModel(tokenizer, graph, **sizes, batch_size=_BATCH_SIZE)
    model.embed([""])
    return model


class BundledEmbedder:
    """The bundled model on the CPU; torch runs its original on a GPU. The first text loads it.

    The log warns once if most texts are not in English.
    """

    def __init__(self, by_torch: SentenceTransformersEmbedder, *, exact: bool = False, on_cpu: bool = False) -> None:
        """Describe the model. Nothing is loaded yet.

        Args:
            by_torch: the original, with the configured prompts.
            exact: whether to compute in single precision even if another precision is faster.
            on_cpu: whether to use the CPU even if a GPU is available.
        """
        self._by_torch = by_torch
        self.name = by_torch.name
        """Name of the model and its prompts. It does not depend on the runtime."""
        self._languages = LanguageWatch(self.name)
        self._exact = exact
        self._on_cpu = on_cpu
        self._lock = threading.Lock()
        self._chosen = False
        self._exported: ExportedModel | None = None
        bind_to_process(self)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - a native library cannot say whether it rests
        """Refuse to run a model in a forked child, because the runtime's threads exist only in the parent."""
        if self._chosen or self._lock.locked():
            self._lock = cast("threading.Lock", InheritedLock())

    @property
    def dimension(self) -> int:
        """Length of every vector; loads the model."""
        exported = self._export()
        return self._by_torch.dimension if exported is None else exported.dimension

    @property
    def backend(self) -> str:
        """The runtime of the model: "openvino" or "torch"; loads the model."""
        return "torch" if self._export() is None else "openvino"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) unit vectors for passages.

        Raises:
            EmbeddingError: the model cannot be loaded.
        """
        self._languages.count(texts)
        exported = self._export()
        if exported is None:
            return self._by_torch.embed_documents(texts)
        return exported.embed(texts, self._by_torch.prompts["document"])

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) unit vectors for questions. Raises the errors of `embed_documents`."""
        exported = self._export()
        if exported is None:
            return self._by_torch.embed_queries(texts)
        return exported.embed(texts, self._by_torch.prompts["query"])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of the model's tokens of each text, without special tokens."""
        if not texts:
            return []
        exported = self._export()
        return self._by_torch.count_tokens(texts) if exported is None else exported.count_tokens(texts)

    def close(self) -> None:
        """Release the model."""
        with self._lock:
            self._chosen, self._exported = False, None
            self._by_torch.close()

    def _export(self) -> ExportedModel | None:
        """Return the exported model, None if torch runs the model."""
        with self._lock:
            if not self._chosen:
                with LOADING:
                    use_gpu = not self._on_cpu and has_accelerator()
                    self._exported = None if use_gpu else load_bundled(exact=self._exact)
                self._chosen = True
            return self._exported
