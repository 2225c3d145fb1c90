"""Exports for ONNX Runtime."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neurogated.embedding.runtimes import SINGLE, ExportError

if TYPE_CHECKING:
    import torch

__all__ = ["OnnxRuntime", "OnnxSession"]

# The newest opset that torch's tracing exporter writes directly.
_OPSET = 17
_OUTPUT = "sentence_embedding"


class OnnxRuntime:
    """Traces the model into the ONNX format. The export needs the package `onnx`; inference does not."""

    name = "onnx"
    package = "onnxruntime"
    files: tuple[str, ...] = ("model.onnx",)

    def export(self, module: torch.nn.Module, example: Mapping[str, torch.Tensor], folder: Path) -> None:
        """Write the file of the export. Raises ExportError."""
        if importlib.util.find_spec("onnx") is None:
            raise ExportError("an export needs package 'onnx', which is not installed; pip install 'neurogated[onnx]'")
        torch_onnx = importlib.import_module("torch.onnx")
        axes = {name: {0: "texts", 1: "tokens"} for name in example}
        try:
            torch_onnx.export(
                module,
                tuple(example.values()),
                str(folder / self.files[0]),
                input_names=list(example),
                output_names=[_OUTPUT],
                dynamic_axes={**axes, _OUTPUT: {0: "texts"}},
                opset_version=_OPSET,
                # The newer exporter needs onnxscript and is much slower.
                dynamo=False,
            )
        except (RuntimeError, ValueError, torch_onnx.OnnxExporterError) as error:
            raise ExportError(f"torch cannot export the model to ONNX ({error})") from error

    def precision(self) -> str:
        """Return "f32", since this runtime computes in the precision of the model's file."""
        return SINGLE

    def load(self, folder: Path, *, exact: bool) -> OnnxSession:  # noqa: ARG002 - always exact
        """Return the export, ready to run. Raises ExportError."""
        onnxruntime = importlib.import_module("onnxruntime")
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        # One core for each run: parallel runs use the cores better than one run on several cores.
        options.intra_op_num_threads = 1
        failures = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")
        try:
            session = onnxruntime.InferenceSession(
                str(folder / self.files[0]), options, providers=["CPUExecutionProvider"]
            )
        except (RuntimeError, failures.Fail, failures.InvalidProtobuf, failures.NotImplemented) as error:
            raise ExportError(f"ONNX Runtime cannot load the model ({error})") from error
        return OnnxSession(session)


class OnnxSession:
    """A session of ONNX Runtime. Thread-safe."""

    def __init__(self, session: Any) -> None:  # noqa: ANN401 - the package is imported on use
        self._session = session
        self.concurrency = os.cpu_count() or 1

    def run(self, inputs: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float32]:
        """Return (n, dimension) vectors."""
        (vectors,) = self._session.run([_OUTPUT], dict(inputs))
        return np.asarray(vectors, dtype=np.float32)
