"""An exported model: its tokenizer, and OpenVINO, which runs it on processors of x86 and ARM.

All embedders share the format of vectors here: float32, finite, of unit length; and the lock for loading.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, Literal, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neurogated.core.forking import ForkSafeLock, InheritedLock, bind_to_process
from neurogated.errors import EmbeddingError, ForkedMemoryError
from neurogated.text.strings import give_way

_PACKAGE = "openvino"
_TELEMETRY = "openvino_telemetry"
_DEVICE = "CPU"
_PRECISION = "INFERENCE_PRECISION_HINT"
_SINGLE = "f32"
_used_in: list[int] = []
"""The id of the process that first used OpenVINO."""
_imported: list[ModuleType] = []
"""The package, once it is imported completely."""
_starting = threading.Lock()


def load_graph(graph: Any, *, exact: bool) -> OpenVINOSession:  # noqa: ANN401 - the package is imported on use
    """Return a graph, a model of OpenVINO or the path of its file, which lies beside that of its weights, ready to run.

    An exact one computes in single precision even if the processor is faster in another one.

    Raises:
        EmbeddingError: OpenVINO cannot load it.
        ForkedMemoryError: OpenVINO was used before the process was forked.
    """
    settings = {"PERFORMANCE_HINT": "THROUGHPUT", **({_PRECISION: _SINGLE} if exact else {})}
    import_openvino()
    with _starting:
        core = _core()
    try:
        return OpenVINOSession(core.compile_model(graph, _DEVICE, settings))
    except RuntimeError as error:
        said = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise EmbeddingError(f"OpenVINO cannot load {graph} ({said}); set embedding.backend to torch") from error


@cache
def _core() -> Any:  # noqa: ANN401 - the package is imported on use
    """Return the one core of this process; one thread at a time may call it.

    On processors with AMX, a core gives its thread a stack for signals, and restores the one before when it is dropped.
    After two were dropped, the older one first, that was freed memory, and the next signal killed the process.
    """
    return import_openvino().Core()


class OpenVINOSession:
    """A compiled model and a pool of idle requests."""

    def __init__(self, compiled: Any) -> None:  # noqa: ANN401 - the package is imported on use
        self._compiled = compiled
        self.inputs = frozenset(name for one in compiled.inputs for name in one.get_names())
        self._idle: list[Any] = []
        # Twice the optimal number: when a request ends, a waiting one starts at once, even while Python is busy.
        self.concurrency = 2 * int(compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))

    def run(self, inputs: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float32]:
        """Return (n, dimension) vectors."""
        try:
            request = self._idle.pop()
        except IndexError:
            request = self._compiled.create_infer_request()
        # `infer(inputs)` would do the same, after it has looked at the type of each value.
        for name, values in inputs.items():
            tensor = request.get_tensor(name)
            tensor.shape = values.shape
            tensor.data[:] = values
        request.infer()
        vectors = np.array(request.get_output_tensor(0).data, dtype=np.float32)
        self._idle.append(request)
        return vectors


def import_openvino() -> ModuleType:
    """Import the package without its telemetry, which would report every import to Intel.

    OpenVINO runs without the telemetry package if its import fails.
    """
    if not _used_in:
        _used_in.append(os.getpid())
    if _used_in != [os.getpid()]:
        # Its thread pool would wait for threads that exist only in the parent: a deadlock.
        raise ForkedMemoryError(
            "OpenVINO was used before this process was forked, so it cannot run here; start processes by the 'spawn' "
            "or 'forkserver' method, or embed the first text after the fork"
        )
    if _imported:
        return _imported[0]
    # If an interrupt strikes the import of its native part, no later import of this process succeeds. Python delivers
    # interrupts in the main thread only, so another one imports it.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_import_without_telemetry).result()


def _import_without_telemetry() -> ModuleType:
    modules = cast("dict[str, ModuleType | None]", sys.modules)
    with _starting:
        present = modules.get(_TELEMETRY)
        modules[_TELEMETRY] = None
        try:
            _imported.append(importlib.import_module(_PACKAGE))
        finally:
            if present is None:
                del modules[_TELEMETRY]
            else:
                modules[_TELEMETRY] = present
        return _imported[0]


def unit_vectors(vectors: ArrayLike, source: str) -> NDArray[np.float32]:
    """Return (n, d) float32 of unit length, or of zeros; raises EmbeddingError for NaN or infinity of the source."""
    matrix = np.asarray(vectors, dtype=np.float32)
    # In double precision, the squares of very large and very small numbers neither overflow nor underflow.
    wide = matrix.astype(np.float64)
    norms = np.sqrt(np.add.reduce(wide * wide, axis=1, keepdims=True))
    finite = np.isfinite(norms)
    if not np.logical_and.reduce(finite, axis=None):
        (bad,) = np.nonzero(~finite[:, 0])
        raise EmbeddingError(
            f"{source} returned NaN or infinity for text {bad[0] + 1} of {len(matrix)}; "
            "use a higher precision or another embedding_name"
        )
    unit: NDArray[np.float64] = wide / np.where(norms > 0, norms, 1.0)
    return unit.astype(np.float32)


LOADING = ForkSafeLock()
"""The lock for loading a model and its first run; it prevents a deadlock.

Bindings of native libraries fill tables on their first call. Without this lock, one thread may hold the interpreter
lock and wait for such a table, while another thread fills the table and waits for the interpreter lock.
"""


# Device files of the drivers of NVIDIA, AMD, and WSL.
_DEVICE_FILES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")


def has_accelerator() -> bool:
    """Return whether torch is installed and sees a GPU; it looks for a driver first, since torch takes seconds."""
    if sys.platform == "linux" and not any(Path(name).exists() for name in _DEVICE_FILES):
        return False
    if importlib.util.find_spec("torch") is None:
        return False
    return bool(importlib.import_module("torch").accelerator.is_available())


# Texts are padded to a multiple of this many tokens. Half precision rounds sums by blocks of this size. If all blocks
# are complete, the vector of a text does not depend on the other texts in its batch, to the last bit.
_BLOCK = 16
# Up to this many texts, each is a batch.
_FEW = 2

_NUMBERS, _ONES = "input_ids", "attention_mask"
INPUTS = (_NUMBERS, _ONES, "token_type_ids")
"""The names of the inputs of the model."""


class Tokenizer(ABC):
    """Cuts texts into the tokens of a model."""

    ends: tuple[int, int]
    """The special tokens at both ends of a text."""

    @abstractmethod
    def tokens(self, text: str) -> list[int]:
        """Return the tokens of a whole text, without special tokens."""

    def encode(self, texts: Sequence[str], max_tokens: int) -> list[list[int]]:
        """Return at most `max_tokens` tokens of each text, including the special tokens at both ends."""
        first, last = self.ends
        return [[first, *self.tokens(text)[: max_tokens - 2], last] for text in texts]


@dataclass(frozen=True, kw_only=True)
class ExportedModel:
    """Embeds texts with an exported model; it truncates those of more than `max_tokens` tokens.

    Texts of similar length share a batch, which needs little padding. The session's `concurrency` limits the concurrent
    batches of a call. Every call has its own threads, so a question waits for running batches at most, not for a long
    call.
    """

    tokenizer: Tokenizer
    session: OpenVINOSession
    dimension: int
    max_tokens: int
    batch_size: int

    def embed(self, texts: Sequence[str], prompt: str | None = None) -> NDArray[np.float32]:
        """Return (n, dimension) unit vectors in the order of `texts`, each with the prompt before it."""
        begun = [prompt + text for text in texts] if prompt else texts
        encodings = self.tokenizer.encode(begun, self.max_tokens)
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        # For a question with its answer, threads would cost more than they save.
        are_few = len(texts) <= _FEW
        batches = [[row] for row in range(len(texts))] if are_few else list(self._batches(encodings))

        def fill(rows: list[int]) -> None:
            give_way()
            width = self._width(encodings[rows[0]])
            # The mask hides the padding, so its number does not matter. The type of each token of a single text is 0.
            expected = [name for name in INPUTS if name in self.session.inputs]
            inputs = {name: np.zeros((len(rows), width), dtype=np.int64) for name in expected}
            for place, row in enumerate(rows):
                inputs[_NUMBERS][place, : len(encodings[row])] = encodings[row]
                inputs[_ONES][place, : len(encodings[row])] = 1
            vectors[rows] = self.session.run(inputs)

        if len(batches) > 1 and not are_few:
            with ThreadPoolExecutor(min(self.session.concurrency, len(batches))) as threads:
                # Reading the results raises the errors of the threads.
                list(
                    threads.map(
                        lambda rows, context: context.run(fill, rows), batches, (copy_context() for _ in batches)
                    )
                )
        else:
            for rows in batches:
                fill(rows)
        return unit_vectors(vectors, "the exported embedding model")

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of the model's tokens of each text, without special tokens."""
        return [len(self.tokenizer.tokens(text)) for text in texts]

    def _batches(self, encodings: Sequence[list[int]]) -> Iterator[list[int]]:
        """Yield the rows of each batch: at most `batch_size` texts with the same padded width."""
        widths = list(map(self._width, encodings))
        # Longest first, so that no long batch is last while the other threads are idle.
        order = sorted(range(len(widths)), key=lambda row: -widths[row])
        for _, group in groupby(order, key=lambda row: widths[row]):
            rows = list(group)
            yield from (rows[at : at + self.batch_size] for at in range(0, len(rows), self.batch_size))

    def _width(self, tokens: list[int]) -> int:
        """Return the padded width of a text in tokens; a text without tokens has one block."""
        return min(-(-max(len(tokens), 1) // _BLOCK) * _BLOCK, self.max_tokens)


M = TypeVar("M")
Role = Literal["query", "document"]
"""What a text is: a question or a passage."""


class PromptedEmbedder(ABC):
    """An embedder with a prompt for each role."""

    def __init__(self, model: str, query_prompt: str | None, document_prompt: str | None) -> None:
        self.prompts: Mapping[Role, str | None] = {"query": query_prompt, "document": document_prompt}
        """The configured prompt of each role; None for the model's own, if any."""
        told = (f" {role}={prompt!r}" for role, prompt in self.prompts.items() if prompt is not None)
        self.name = model + "".join(told)
        """Model name, with configured prompts, since these change the vectors. It does not depend on the runtime."""

    @abstractmethod
    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        """Return (n, dimension) unit vectors of texts with the prompt of their role."""

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.embed(texts, "document")

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.embed(texts, "query")


class LocalEmbedder(PromptedEmbedder, Generic[M]):
    """An embedder whose model runs on this machine. The first text loads it, and none does in a forked child.

    The threads and processes of a library of models exist in the parent only.
    """

    def __init__(self, model: str, query_prompt: str | None, document_prompt: str | None) -> None:
        super().__init__(model, query_prompt, document_prompt)
        self._lock = threading.Lock()
        self._loaded: M | None = None
        bind_to_process(self)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - a native library cannot say whether it rests
        if self._loaded is not None or self._lock.locked():
            self._lock = cast("threading.Lock", InheritedLock())

    @abstractmethod
    def _load(self) -> M:
        """Load the model; raises EmbeddingError or MissingExtraError."""

    def _release(self, model: M) -> None:
        """Stop what a loaded model has started."""

    @property
    def dimension(self) -> int:
        model: Any = self.model()
        return int(model.dimension)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        model: Any = self.model() if texts else None
        return [] if model is None else list(model.count_tokens(texts))

    def model(self) -> M:
        """Return the loaded model; raises ForkedMemoryError in a forked child of the process that loaded it."""
        with self._lock:
            if self._loaded is None:
                with LOADING:
                    self._loaded = self._load()
            return self._loaded

    def close(self) -> None:
        with self._lock:
            if self._loaded is not None:
                self._release(self._loaded)
            self._loaded = None
