"""Whether torch can use a GPU."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

# Device files of the drivers of NVIDIA, AMD, and WSL.
_DEVICE_FILES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")


def has_accelerator() -> bool:
    """Return whether torch is installed and sees a GPU.

    The import of torch takes seconds, so the function first looks for a driver.
    """
    if sys.platform == "linux" and not any(Path(name).exists() for name in _DEVICE_FILES):
        return False
    if importlib.util.find_spec("torch") is None:
        return False
    return bool(importlib.import_module("torch").accelerator.is_available())
