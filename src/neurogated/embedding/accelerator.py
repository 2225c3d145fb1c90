"""Whether torch would choose something quicker than the CPU."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

__all__ = ["has_accelerator"]

# Of NVIDIA's and AMD's drivers, and of Windows' in Linux.
_DEVICE_FILES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")


def has_accelerator() -> bool:
    """Return whether torch sees a GPU; torch, which takes seconds to import, is asked only where there may be one."""
    if sys.platform == "linux" and not any(Path(name).exists() for name in _DEVICE_FILES):
        return False
    return bool(importlib.import_module("torch").accelerator.is_available())
