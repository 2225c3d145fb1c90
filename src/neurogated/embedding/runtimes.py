"""The interface of the runtimes of exported models."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from neurogated.core.forking import ForkSafeLock
from neurogated.errors import EmbeddingError

if TYPE_CHECKING:
    import torch

__all__ = ["LOADING", "SINGLE", "ExportError", "Runtime", "Session"]

SINGLE = "f32"
"""Single precision, 32 bits for a number. Every processor supports it."""

LOADING = ForkSafeLock()
"""The lock for loading a model and its first run; it prevents a deadlock.

Bindings of native libraries fill tables on their first call. Without this lock, one thread may hold the interpreter
lock and wait for such a table, while another thread fills the table and waits for the interpreter lock.
"""


class ExportError(EmbeddingError):
    """A model cannot be exported, or its export cannot run."""


class Session(Protocol):
    """A loaded model. Thread-safe."""

    @property
    def concurrency(self) -> int:
        """The number of concurrent runs that use the machine fully."""

    def run(self, inputs: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float32]:
        """Return (n, dimension) vectors. `inputs` maps names to (n, tokens) arrays."""


class Runtime(Protocol):
    """Exports models of torch and runs the exports."""

    name: str
    package: str
    """The required package."""
    files: tuple[str, ...]
    """Names of the files of an export."""

    def export(self, module: torch.nn.Module, example: Mapping[str, torch.Tensor], folder: Path) -> None:
        """Export `module` to files in `folder`. Raises ExportError."""

    def precision(self) -> str:
        """Return the fastest precision of this processor: `SINGLE`, or a half precision such as "bf16"."""

    def load(self, folder: Path, *, exact: bool) -> Session:
        """Return the export in `folder`, ready to run. Raises ExportError.

        Args:
            folder: folder of the export's files.
            exact: whether to compute in single precision even if another precision is faster.
        """
