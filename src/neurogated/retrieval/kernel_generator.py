"""Sources of modulation kernels."""

import numpy as np
from numpy.typing import NDArray

from neurogated.core.kernel import Kernel

__all__ = ["UniformKernelSource"]


class UniformKernelSource:
    """Gives every question the same kernel, in which every type of edge counts alike."""

    def generate(self, query: str, vector: NDArray[np.float32] | None = None) -> Kernel:  # noqa: ARG002 - the port's
        """Return the kernel whose weights are all 1."""
        return Kernel()
