"""What a page of the history costs."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from starlette.testclient import TestClient

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.delta import LATEST, HistoryEntry, JournalEntry
from neurogated.server import create_app
from neurogated.storage.graph_store import GraphStore

NOTES = 400


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Note how many entries and deltas a store returns."""
    read, journal, history = list[int](), GraphStore.journal, GraphStore.history

    def counted_journal(self: GraphStore, after: int = 0, up_to: int = LATEST) -> Iterator[JournalEntry]:
        for entry in journal(self, after, up_to):
            read.append(entry.sequence)
            yield entry

    def counted_history(self: GraphStore, after: int = 0, up_to: int = LATEST) -> list[HistoryEntry]:
        found = history(self, after, up_to)
        read.extend(entry.sequence for entry in found)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(GraphStore, "journal", counted_journal)
        patched.setattr(GraphStore, "history", counted_history)
        yield read


def test_a_page_of_a_user_reads_little_more_than_it_shows(
    config: MemoryConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    with NeuroGraphMemory(config) as memory:
        ids = [memory.add(f"Note {number} of Ana.", user_id="ana")[0] for number in range(NOTES)]
        memory.delete(ids[-20])
        with TestClient(create_app(memory), base_url="http://127.0.0.1") as client:
            for _ in range(3):
                with counted(monkeypatch) as read:
                    page = client.get("/v1/history", params={"user_id": "ana", "limit": 5})
                assert len(page.json()["changes"]) == 5
                assert 5 < len(read) < NOTES // 4
                memory.add(f"One more, {len(read)}.", user_id="bob")
        with counted(monkeypatch) as read:
            assert len(memory.history.list(user_id="ana", last=5)) == 5
        assert 5 < len(read) < NOTES // 4
    assert page.json()["changes"][0]["memories"][0]["content"] == f"Note {NOTES - 20} of Ana."
