"""An upsert with another time or session moves its turn."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.config.groups import IndexingSettings
from tests.sessions import LONG, NOON, message_of, order_of

CONFIG = MemoryConfig(storage="memory", embedding_name="hash", indexing=IndexingSettings(chunk_size=9))
SESSIONS = ("one", "two")

kinds = st.sampled_from(["same", "new", "long"])
put = st.tuples(st.integers(0, 5), st.integers(0, 3), st.none() | st.sampled_from(SESSIONS), kinds)


@given(st.lists(put, max_size=12))
def test_turns_stand_where_their_last_time_and_session_put_them(calls: list[tuple[int, int, str | None, str]]) -> None:
    expected: dict[str, list[tuple[int, str]]] = {name: [] for name in SESSIONS}
    known: dict[str, tuple[int, str, str]] = {}
    with NeuroGraphMemory(CONFIG) as memory:
        for number, (name, hour, session, kind) in enumerate(calls):
            node_id = f"turn {name}"
            old_hour, old_session, old_text = known.get(node_id, (None, None, f"Turn {name}."))
            text = {"same": old_text, "new": f"Turn {name}, {number}.", "long": LONG}[kind]
            place = session or old_session
            moment = NOON + timedelta(hours=hour)
            memory.add(message_of(text, id=node_id, timestamp=moment), session_id=session)
            if place is None:
                continue
            if (old_hour, old_session) != (hour, place):
                if old_session is not None:
                    expected[old_session] = [one for one in expected[old_session] if one[1] != node_id]
                at = sum(one[0] <= hour for one in expected[place])
                expected[place].insert(at, (hour, node_id))
            known[node_id] = (hour, place, text)
        for session in SESSIONS:
            texts = []
            for _, node_id in expected[session]:
                text = known[node_id][2]
                texts += [f"{part.strip('.')}." for part in text.split(". ")] if text == LONG else [text]
            assert order_of(memory, session) == texts
        assert memory.admin.check() == []


def test_a_document_becomes_a_turn_and_keeps_the_scope_that_is_not_given() -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        memory.add("Turn 0.", session_id="s", user_id="ana")
        memory.add("A note.", id="note", user_id="ana", agent_id="planner", path=("a", "b"))
        memory.add("A note.", id="note", user_id="ana", session_id="s")
        assert order_of(memory) == ["Turn 0.", "A note."]
        scope = memory.get("note").scope
        assert (scope.agent_id, scope.path, scope.session_id) == ("planner", ("a", "b"), "s")


@pytest.mark.parametrize("text", ["The pump works.", "The pump failed."])
@pytest.mark.parametrize("session", [{}, {"session_id": "s"}])
def test_an_upsert_of_a_memory_that_another_process_deletes_meanwhile_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, session: dict[str, Any]
) -> None:
    config = CONFIG.replace(storage="sqlite", save_dir=str(tmp_path))
    with NeuroGraphMemory(config) as memory, NeuroGraphMemory(config) as other:
        memory.add("The pump failed.", id="pump", **session)
        analysis = memory.session.writer._analysis
        real: Callable[..., Any] = analysis.find_causes

        def find_causes(*arguments: Any) -> Any:  # noqa: ANN401
            if other.count():
                other.delete(["pump"])
            return real(*arguments)

        monkeypatch.setattr(analysis, "find_causes", find_causes)
        assert memory.add(text, id="pump", metadata={"a": 1}, **session) == ["pump"]
        assert (memory.get("pump").content, memory.get("pump").metadata) == (text, {"a": 1})
        assert memory.admin.check() == []
