"""A sentence-transformers model on this machine, with the fastest installed runtime."""

from __future__ import annotations

import functools
import importlib.util
import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from neurogated.core.forking import InheritedLock, bind_to_process
from neurogated.embedding.accelerator import has_accelerator
from neurogated.embedding.export_cache import ExportCache
from neurogated.embedding.exported_model import ExportedModel
from neurogated.embedding.onnx_runtime import OnnxRuntime
from neurogated.embedding.openvino_runtime import OpenVINORuntime
from neurogated.embedding.runtimes import LOADING, ExportError, Runtime
from neurogated.embedding.sentence_transformers_embedder import SentenceTransformersEmbedder
from neurogated.errors import EmbeddingError, ForkedMemoryError, MissingExtraError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["LocalEmbedder"]

# Fastest first.
_RUNTIMES: tuple[Runtime, ...] = (OpenVINORuntime(), OnnxRuntime())

_log = logging.getLogger(__name__)


class LocalEmbedder:
    """Runs an exported model on the CPU.

    Torch runs a model that cannot be exported, and with the backend "auto" any model on a GPU. The first text triggers
    the choice of the runtime. On the CPU, the bundled model and cached exports run without importing torch.
    """

    def __init__(
        self,
        by_torch: SentenceTransformersEmbedder,
        exports: ExportCache,
        backend: str,
        *,
        on_cpu: bool = False,
    ) -> None:
        """Describe the model. Nothing is loaded yet.

        Args:
            by_torch: the model, with its prompts.
            exports: the cache of exports.
            backend: "auto" for the fastest runtime, or "openvino" or "onnx" for this runtime only.
            on_cpu: whether to use the CPU even if a GPU is available.

        Raises:
            MissingExtraError: the package of `backend` is not installed.
        """
        self._by_torch = by_torch
        self._exports = exports
        self._backend = backend
        self._on_cpu = on_cpu
        wanted = [runtime for runtime in _RUNTIMES if backend in ("auto", runtime.name)]
        self._runtimes = [runtime for runtime in wanted if importlib.util.find_spec(runtime.package)]
        if backend != "auto" and not self._runtimes:
            package = wanted[0].package
            install = "'neurogated[onnx]'" if backend == "onnx" else package
            raise MissingExtraError(f"package {package!r} is not installed; pip install {install}")
        self._lock = threading.Lock()
        self._chosen = False
        self._exported: ExportedModel | None = None
        self._running = "torch"
        bind_to_process(self)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - a native library cannot say whether it rests
        """Refuse to run a model in a forked child, because the runtime's threads exist only in the parent."""
        if self._chosen or self._lock.locked():
            self._lock = cast("threading.Lock", InheritedLock())

    @property
    def name(self) -> str:
        """Name of the model and its prompts. It does not depend on the runtime."""
        return self._by_torch.name

    @property
    def dimension(self) -> int:
        """Length of every vector; loads the model."""
        exported = self._export()
        return self._by_torch.dimension if exported is None else exported.dimension

    @property
    def backend(self) -> str:
        """The runtime of the model: "openvino", "onnx" or "torch"; loads the model."""
        self._export()
        return self._running

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) unit vectors for passages.

        Raises:
            EmbeddingError: the model cannot be loaded, or the configured backend cannot run it.
            MissingExtraError: sentence-transformers or the bundled model is not installed.
        """
        exported = self._export()
        if exported is None:
            return self._by_torch.embed_documents(texts)
        return exported.embed(texts, "document", self._by_torch.prompts["document"])

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) unit vectors for questions. Raises the errors of `embed_documents`."""
        exported = self._export()
        if exported is None:
            return self._by_torch.embed_queries(texts)
        return exported.embed(texts, "query", self._by_torch.prompts["query"])

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
            self._exports.close()
            self._by_torch.close()

    def _export(self) -> ExportedModel | None:
        """Return the exported model, None if torch runs the model."""
        with self._lock:
            if not self._chosen:
                with LOADING:
                    self._exported = self._choose()
                self._chosen = True
            return self._exported

    def _choose(self) -> ExportedModel | None:
        if self._backend == "auto" and not self._on_cpu and has_accelerator():
            return None
        if not self._runtimes:
            return None
        if self._by_torch.is_bundled and (found := self._first(self._exports.load_bundled)):
            return found
        folder = self._by_torch.folder()
        if folder is not None and (found := self._first(functools.partial(self._exports.load, folder))):
            return found
        # An error here is final: no runtime can run a model that cannot be loaded.
        model = self._by_torch.model("cpu")
        return self._first(functools.partial(self._make, model))

    def _first(self, provide: Callable[[Runtime], ExportedModel | None]) -> ExportedModel | None:
        """Return the first model that `provide` returns for a runtime, fastest runtime first."""
        for runtime in self._runtimes:
            try:
                found = provide(runtime)
            except ForkedMemoryError:
                raise
            except Exception as error:
                foreseen = isinstance(error, ExportError | OSError)
                reason = error if foreseen else repr(error)
                if self._backend != "auto":
                    if not foreseen:
                        raise
                    raise EmbeddingError(
                        f"embedding model {self.name!r} cannot be run by {runtime.name} ({reason}); "
                        "set embedding.backend to auto or torch"
                    ) from error
                # Exporters raise many kinds of errors; the next runtime or torch may still run the model.
                _log.warning("embedding model %r cannot be run by %s (%s)", self.name, runtime.name, reason)
                continue
            if found is not None:
                self._running = runtime.name
                return found
        return None

    def _make(self, model: SentenceTransformer, runtime: Runtime) -> ExportedModel:
        from neurogated.embedding.export import export_model, verify  # imported here, since it imports torch

        begin = time.perf_counter()
        # Loading the model has downloaded its files.
        folder: Path | None = self._by_torch.folder()
        if folder is None:
            raise ExportError("its files cannot be found")
        made = self._exports.make(
            folder, runtime, lambda draft: export_model(model, runtime, draft), lambda export: verify(export, model)
        )
        _log.info("exported %s for %s in %.1f s", self.name, runtime.name, time.perf_counter() - begin)
        self._by_torch.close()
        return made
