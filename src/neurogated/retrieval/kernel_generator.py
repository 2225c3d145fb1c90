"""Sources of modulation kernels."""

from neurogated.core.kernel import Kernel

__all__ = ["UniformKernelSource"]


class UniformKernelSource:
    """Gives every question the same kernel, in which every type of edge counts alike."""

    def generate(self, query: str) -> Kernel:  # noqa: ARG002 - the protocol's signature
        """Return the kernel whose weights are all 1."""
        return Kernel()
