"""Fixtures of the tests about moving memories."""

from pathlib import Path

import pytest

from tests.archive.stores import OpenStore, stores


@pytest.fixture(params=["memory to memory", "memory to sqlite", "sqlite to memory", "sqlite to sqlite"])
def open_pair(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[OpenStore, OpenStore]:
    """Return two functions: one opens the store to export, the other the store to import into."""
    source, target = str(request.param).split(" to ")
    return stores(source, tmp_path), stores(target, tmp_path)


@pytest.fixture(params=["memory", "sqlite"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> OpenStore:
    return stores(request.param, tmp_path)
