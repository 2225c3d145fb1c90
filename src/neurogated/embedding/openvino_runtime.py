"""Runs a graph by OpenVINO, Intel's runtime for x86 and ARM processors."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from neurogated.errors import EmbeddingError, ForkedMemoryError

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
    """Return a graph, ready to run.

    Args:
        graph: the path of its file, which lies beside the file of its weights, or an OpenVINO model.
        exact: whether to compute in single precision even if the processor is faster in another one.

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
