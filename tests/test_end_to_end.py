"""The integration test that the specification writes out."""

from neurogated import MemoryConfig, NeuroGraphMemory


def test_full_pipeline(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add_document("Test document")
        results = memory.retrieve("Test query")
        assert len(results) > 0
