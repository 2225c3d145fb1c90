"""Models for tests of embedding."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a model with 16 dimensions that is exported in a moment."""
    from tests.embedding.tiny_model import make_tiny_model  # imported here, since it imports torch

    folder: Path = tmp_path_factory.mktemp("tiny")
    return str(make_tiny_model(folder))
