"""Exports for OpenVINO, Intel's runtime for x86 and ARM processors."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from neurogated.embedding.runtimes import SINGLE, ExportError
from neurogated.errors import ForkedMemoryError

if TYPE_CHECKING:
    import torch

__all__ = ["OpenVINORuntime", "OpenVINOSession"]

_PACKAGE = "openvino"
_TELEMETRY = "openvino_telemetry"
_DEVICE = "CPU"
_PRECISION = "INFERENCE_PRECISION_HINT"
_used_in: list[int] = []
"""The id of the process that first used OpenVINO."""


class OpenVINORuntime:
    """Traces the model into OpenVINO's own format."""

    name = "openvino"
    package = _PACKAGE
    files: tuple[str, ...] = ("model.xml", "model.bin")

    def export(self, module: torch.nn.Module, example: Mapping[str, torch.Tensor], folder: Path) -> None:
        """Write the two files of the export. Raises ExportError."""
        openvino = _openvino()
        frontends = importlib.import_module("openvino.frontend")
        decoders = importlib.import_module("openvino.frontend.pytorch.ts_decoder")
        try:
            # `convert_model` sends telemetry about the model, so this calls the front end directly.
            decoder = decoders.TorchScriptPythonDecoder(module, example_input=dict(example))
            frontend = frontends.FrontEndManager().load_by_framework("pytorch")
            model = frontend.convert(frontend.load(decoder))
            openvino.save_model(model, str(folder / self.files[0]), compress_to_fp16=False)
        except (RuntimeError, frontends.GeneralFailure, frontends.OpConversionFailure) as error:
            raise ExportError(f"OpenVINO cannot export the model ({_first_line(error)})") from error

    def precision(self) -> str:
        """Return "bf16" or "f16" if the processor has instructions for such numbers, else "f32"."""
        return str(_openvino().Core().get_property(_DEVICE, _PRECISION).get_type_name())

    def load(self, folder: Path, *, exact: bool) -> OpenVINOSession:
        """Return the export, ready to run. Raises ExportError."""
        settings = {"PERFORMANCE_HINT": "THROUGHPUT", **({_PRECISION: SINGLE} if exact else {})}
        openvino = _openvino()
        try:
            return OpenVINOSession(openvino.Core().compile_model(str(folder / self.files[0]), _DEVICE, settings))
        except RuntimeError as error:
            raise ExportError(f"OpenVINO cannot load the model ({_first_line(error)})") from error


class OpenVINOSession:
    """A compiled model and a pool of idle requests."""

    def __init__(self, compiled: Any) -> None:  # noqa: ANN401 - the package is imported on use
        self._compiled = compiled
        self._idle: list[Any] = []
        # Twice the optimal number: when a request ends, a waiting one starts at once, even while Python is busy.
        self.concurrency = 2 * int(compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))

    def run(self, inputs: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float32]:
        """Return (n, dimension) vectors."""
        try:
            request = self._idle.pop()
        except IndexError:
            request = self._compiled.create_infer_request()
        request.infer(dict(inputs))
        vectors = np.array(request.get_output_tensor(0).data, dtype=np.float32)
        self._idle.append(request)
        return vectors


def _openvino() -> ModuleType:
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
    if _PACKAGE in sys.modules:
        return sys.modules[_PACKAGE]
    modules = cast("dict[str, ModuleType | None]", sys.modules)
    present = modules.get(_TELEMETRY)
    modules[_TELEMETRY] = None
    try:
        return importlib.import_module(_PACKAGE)
    finally:
        if present is None:
            del modules[_TELEMETRY]
        else:
            modules[_TELEMETRY] = present


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
