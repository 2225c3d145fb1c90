"""Fixtures of the tests about forgetting."""

from collections.abc import Iterator

import pytest

from neurogated import GraphStore, MemoryConfig, NeuroGraphMemory
from neurogated.embedding.registry import HashEmbedder
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.session.runtime import Parts
from neurogated.testing import ManualClock


@pytest.fixture
def settings_used() -> MemoryConfig:
    return MemoryConfig(storage="memory", embedding_name="hash")


@pytest.fixture
def memory(settings_used: MemoryConfig, clock: ManualClock) -> Iterator[NeuroGraphMemory]:
    parts = Parts(GraphStore(clock=clock), HashEmbedder(), UniformKernelSource(), clock=clock)
    with NeuroGraphMemory(settings_used, parts=parts) as opened:
        yield opened
