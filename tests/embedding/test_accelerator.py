import sys
from pathlib import Path

import pytest

from neurogated.embedding import vectors


def test_torch_is_asked_for_a_gpu_only_where_there_is_a_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(vectors, "_DEVICE_FILES", (str(tmp_path / "nvidia"),))
    monkeypatch.setattr(sys, "platform", "linux")

    assert not vectors.has_accelerator()
    (tmp_path / "nvidia").touch()
    assert vectors.has_accelerator()
