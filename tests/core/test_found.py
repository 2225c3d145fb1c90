"""A memory's own findings are separate from the caller's metadata."""

from __future__ import annotations

from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory, field
from neurogated.config.groups import IndexingSettings

TEXT = "# The Lyon pump\n\nOn Monday Zoë Moor broke the pump of Lyon. " + "It was a long day for all. " * 30
GIVEN: dict[str, Any] = {
    "entities": ["mine"],
    "times": "mine",
    "document_id": 5,
    "found_names": None,
    "part": [3, 3],
    "timestamp": 12.5,
    "location": "Lyon",
    "sentiment": 0.5,
}


@pytest.mark.parametrize("given", [{}, GIVEN])
@pytest.mark.parametrize("about", [{}, {"session_id": "s"}, {"id": "own"}])
def test_metadata_is_the_callers_own(tmp_path: Any, given: dict[str, Any], about: dict[str, Any]) -> None:  # noqa: ANN401
    config = MemoryConfig(save_dir=tmp_path, embedding_name="hash", indexing=IndexingSettings(chunk_size=60))
    with NeuroGraphMemory(config) as memory:
        ids = memory.add(TEXT, metadata=given, **about)
        assert len(ids) > 1
        memory.add("A heron stood by the mill.")
    with NeuroGraphMemory(config) as memory:
        assert [dict(memory.get(node_id).metadata) for node_id in ids] == [given] * len(ids)
        first, second = memory.get(ids[0]).found, memory.get(ids[1]).found
        assert "Zoë Moor" in first.entities
        assert first.times == ("On Monday",)
        assert (first.document_id is None) == bool(about)
        assert (second.part is not None) == (about == {"session_id": "s"})
        new = memory.update(ids[0], "Nobody came.")
        assert new.metadata == given
        assert (new.found.entities, new.found.times, new.found.names) == ((), (), ())
        assert new.found.document_id == first.document_id
        memory.undo()
        assert memory.get(ids[0]).found == first
        if given:
            assert memory.list(where=field("location") == "Lyon")
        assert not memory.list(where=field("entities").exists() & ~(field("sentiment") == 0.5))
