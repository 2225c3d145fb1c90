import sys
from pathlib import Path

import pytest

from neurogated.embedding import accelerator


def test_torch_is_asked_for_a_gpu_only_where_there_is_a_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(accelerator, "_DEVICE_FILES", (str(tmp_path / "nvidia"),))
    monkeypatch.setattr(sys, "platform", "linux")

    assert not accelerator.has_accelerator()
    (tmp_path / "nvidia").touch()
    assert accelerator.has_accelerator()
