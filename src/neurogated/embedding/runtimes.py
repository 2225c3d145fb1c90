"""What runs an exported model, whichever package does it."""

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
"""The precision in which every processor computes: 32 bits a number."""

LOADING = ForkSafeLock()
"""Held while a model is loaded and runs for the first time; one thread of the process does so at a time.

Bindings of native libraries fill tables when they are first called. If two threads enter together, one may hold the
interpreter lock while it waits for such a table, and the other fills the table while it waits for the interpreter lock.
"""


class ExportError(EmbeddingError):
    """A model cannot be exported, or what was exported cannot be run."""


class Session(Protocol):
    """A model ready to run; any number of threads may run it at once."""

    @property
    def concurrency(self) -> int:
        """How many runs at once keep the machine busy."""

    def run(self, inputs: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float32]:
        """Return (n, dimension) vectors for the inputs, by name, each (n, tokens)."""


class Runtime(Protocol):
    """Exports models of torch and runs the exports."""

    name: str
    package: str
    """What has to be installed."""
    files: tuple[str, ...]
    """Names of the files that an export consists of."""

    def export(self, module: torch.nn.Module, example: Mapping[str, torch.Tensor], folder: Path) -> None:
        """Write the files of the export of `module` into `folder`; raises ExportError."""

    def precision(self) -> str:
        """Return in what this processor computes quickest: `SINGLE`, or a shorter name such as "bf16"."""

    def load(self, folder: Path, *, exact: bool) -> Session:
        """Return the export in `folder`, ready to run; raises ExportError.

        Args:
            folder: where its files are.
            exact: whether it computes in single precision even where another is quicker.
        """
