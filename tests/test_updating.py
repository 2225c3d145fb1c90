"""An update judges its text without the lock and embeds the whole text."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest

from neurogated import EdgeType, MemoryConfig, NeuroGraphMemory
from neurogated.compose import build
from neurogated.config.groups import IndexingSettings
from neurogated.ingestion.analysers import Findings
from tests.sessions import NOON, message_of, order_of

CONFIG = MemoryConfig(storage="memory", embedding_name="hash", indexing=IndexingSettings(chunk_size=9))


@pytest.mark.parametrize("upsert", [True, False])
def test_others_write_while_an_update_is_judged(*, upsert: bool) -> None:
    parts = build(CONFIG)
    finder, written = parts.entity_finder, threading.Event()
    with NeuroGraphMemory(CONFIG, parts=parts) as memory:
        memory.add("The pump failed.", id="pump")

        def write() -> None:
            memory.add("A heron stood by the mill.")
            written.set()

        def find(text: str) -> tuple[str, ...]:
            if "works" in text and not written.is_set():
                threading.Thread(target=write).start()
                assert written.wait(20), "the write lock is held while a text is judged"
            return type(finder).find(finder, text)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(finder, "find", find, raising=True)
            if upsert:
                memory.add("The pump works.", id="pump")
            else:
                memory.update("pump", "The pump works.")
        assert written.is_set()
        assert {node.content for node in memory.list()} == {"The pump works.", "A heron stood by the mill."}


@pytest.mark.parametrize("hour", [-1, 0.5, 1.5, 2.5, 9])
def test_a_turn_with_a_new_time_moves_to_its_place(hour: float) -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        for number in range(4):
            at = NOON + timedelta(hours=number)
            memory.add(message_of(f"Turn {number}.", id=str(number), timestamp=at), session_id="s")
        memory.update("1", timestamp=NOON + timedelta(hours=hour))
        order = sorted(range(4), key=lambda number: hour if number == 1 else number)
        assert order_of(memory) == [f"Turn {number}." for number in order]
        assert memory.history.list()[-1].reason == "update"
        memory.undo()
        assert order_of(memory) == [f"Turn {number}." for number in range(4)]
        # A new text may come with the new time.
        memory.update("1", "Turn one.", timestamp=NOON + timedelta(hours=hour))
        assert order_of(memory) == [f"Turn {number}.".replace("1", "one") for number in order]
        assert memory.admin.check() == []


def test_causes_around_a_new_text_of_a_turn_are_judged_again() -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        memory.add(["The pump failed.", message_of("The field is green.", id="field")], session_id="s")
        memory.add([f"Turn {number}." for number in range(20)], session_id="s")
        for update in (memory.update, lambda node_id, text: memory.add(text, id=node_id)):
            update("field", "The field is green.")
            assert not [edge for edge in memory.store.all_edges() if edge.type is EdgeType.CAUSE]
            update("field", "Because of this, the field was flooded.")
            assert len([edge for edge in memory.store.all_edges() if edge.type is EdgeType.CAUSE]) == 2


@pytest.mark.parametrize("upsert", [True, False])
def test_accesses_counted_while_an_update_is_judged_stay(monkeypatch: pytest.MonkeyPatch, *, upsert: bool) -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        memory.add("The pump failed.", id="pump")
        analysis = memory.session.writer._analysis
        real = analysis.find_causes

        def find_causes(*arguments: Any) -> Findings:  # noqa: ANN401
            memory.recall("pump")
            memory.learning.flush()
            return real(*arguments)

        monkeypatch.setattr(analysis, "find_causes", find_causes)
        if upsert:
            memory.add("The pump works.", id="pump")
        else:
            memory.update("pump", "The pump works.")
        assert memory.get("pump").uses == 1
