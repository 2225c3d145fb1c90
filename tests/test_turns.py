"""Turns of a session: their storage and order, and memories that replace others under the caller's own id."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from neurogated import ANY_USER, EdgeType, GraphDelta, GraphStore, MemoryConfig, MemoryNode, NeuroGraphMemory, Scope
from neurogated.config.groups import IndexingSettings
from neurogated.embedding.registry import HashEmbedder
from neurogated.errors import InputError
from neurogated.ingestion.analysers import Analysis
from neurogated.integrations.conversation import Conversation
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.session.compose import build
from neurogated.session.runtime import Parts
from neurogated.testing import ManualClock
from tests.sessions import LONG, NOON, following_of, message_of, order_of

# Storage


def test_a_message_is_a_memory_with_role_speaker_time_and_metadata(memory: NeuroGraphMemory) -> None:
    message = message_of("I moved to Lyon.", name="Ann", timestamp=NOON, metadata={"mood": "calm"})
    (told,), (noted,) = memory.add(message, user_id="ana", session_id="s", tags=["home"]), memory.add("A note.")
    node, note = memory.store.get_nodes([told, noted])
    assert (node.content, node.role, node.speaker, node.timestamp) == ("I moved to Lyon.", "user", "Ann", NOON)
    assert (node.scope.user_id, node.scope.session_id, node.tags) == ("ana", "s", ("home",))
    assert (node.metadata, node.found.entities) == ({"mood": "calm"}, ("Lyon",))
    assert node.position is not None
    assert (note.role, note.speaker, note.timestamp, note.position) == (None, None, None, None)


def test_the_same_words_are_two_turns_of_a_session_and_one_document(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        assert len({*memory.add(["Oh no!", "Oh no!"], session_id="s"), *memory.add("Oh no!", session_id="s")}) == 3
        assert order_of(memory) == ["Oh no!"] * 3
        before = memory.store.view().sequence + 1
        assert len({*memory.add(["Oh no!", "Oh no!"]), *memory.add("Oh no!")}) == 1
        assert memory.store.view().sequence == before


# The order of a session


def test_sessions_are_told_apart_by_name_and_user(memory: NeuroGraphMemory) -> None:
    for place in range(3):
        memory.add(f"One {place}.", user_id="ana", session_id="one")
        memory.add(f"Two {place}.", user_id="ana", session_id="two")
        memory.add(f"Three {place}.", user_id="bob", session_id="three")
        memory.add(f"Four {place}.", session_id="four")
        memory.add(f"None {place}.", user_id="ana")
    for name in ("One", "Two", "Three", "Four"):
        assert order_of(memory, name.lower()) == [f"{name} {place}." for place in range(3)]
    assert len(following_of(memory)) == 8


def test_an_expired_turn_leaves_one_chain() -> None:
    clock = ManualClock()
    with NeuroGraphMemory(
        config := MemoryConfig(storage="memory", embedding_name="hash"), parts=build(config, clock)
    ) as memory:
        memory.add("First.", session_id="s")
        memory.add("Second.", session_id="s", ttl=5)
        memory.add("Third.", session_id="s")
        clock.advance(timedelta(seconds=9))
        memory.maintenance()
        assert order_of(memory) == ["First.", "Third."]


CONFIG = MemoryConfig(storage="memory", embedding_name="hash")

hours = st.none() | st.integers(1, 9)


def _messages(hours: Sequence[int | None], first: int) -> list[dict[str, object]]:
    times = [{} if hour is None else {"timestamp": NOON + timedelta(hours=hour)} for hour in hours]
    return [message_of(f"Turn {number}.", **time) for number, time in enumerate(times, first)]


@given(st.lists(st.lists(hours, min_size=1, max_size=12), max_size=8))
def test_a_turn_follows_all_turns_that_are_not_later_and_one_without_time_is_said_now(
    batches: list[list[int | None]],
) -> None:
    expected: list[tuple[int | None, str]] = []
    count = 0
    with NeuroGraphMemory(CONFIG) as memory:
        for batch in batches:
            memory.add(_messages(batch, count), session_id="s")
            for hour in batch:
                later = [place for place, (other, _) in enumerate(expected) if hour and (not other or other > hour)]
                expected.insert(min(later, default=len(expected)), (hour, f"Turn {count}."))
                count += 1
        assert order_of(memory) == [text for _, text in expected]


@given(st.lists(st.integers(-30, 30), max_size=12))
def test_messages_keep_their_order_though_the_clock_jumps(jumps: list[int]) -> None:
    clock = ManualClock()
    with NeuroGraphMemory(CONFIG, parts=build(CONFIG, clock)) as memory:
        for number, jump in enumerate(jumps):
            clock.advance(timedelta(hours=jump))
            memory.add(_messages([None], number), session_id="s")
            assert memory.find(session_id="s", order_by="position")[-1].timestamp == clock()
        assert order_of(memory) == [f"Turn {number}." for number in range(len(jumps))]


def test_turns_in_reverse_order_read_as_few_turns_of_a_long_session_as_of_a_short_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []
    real = GraphStore.get_nodes

    def get_nodes(store: GraphStore, node_ids: Any, **details: Any) -> Any:  # noqa: ANN401
        read.append(len(node_ids))
        return real(store, node_ids, **details)

    monkeypatch.setattr(GraphStore, "get_nodes", get_nodes)
    counts = []
    for length in (100, 1000):
        with NeuroGraphMemory(CONFIG) as memory:
            memory.add(_messages(range(length, 0, -1), 0), session_id="s")
            read.clear()
            for hour in (0, -1, length // 2):
                memory.add(_messages([hour], 0), session_id="s")
            counts.append(sum(read))
    # The writer has the turns that it stored last, which are all turns of the short session.
    assert max(counts) < 30


SMALL = MemoryConfig(storage="memory", embedding_name="hash", indexing=IndexingSettings(chunk_size=9))
SESSIONS = ("one", "two")

kinds = st.sampled_from(["same", "new", "long"])
put = st.tuples(st.integers(0, 5), st.integers(0, 3), st.none() | st.sampled_from(SESSIONS), kinds)


@given(st.lists(put, max_size=12))
def test_turns_stand_where_their_last_time_and_session_put_them(calls: list[tuple[int, int, str | None, str]]) -> None:
    expected: dict[str, list[tuple[int, str]]] = {name: [] for name in SESSIONS}
    known: dict[str, tuple[int, str, str]] = {}
    with NeuroGraphMemory(SMALL) as memory:
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
    with NeuroGraphMemory(SMALL) as memory:
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
    config = SMALL.replace(storage="sqlite", save_dir=str(tmp_path))
    with NeuroGraphMemory(config) as memory, NeuroGraphMemory(config) as other:
        memory.add("The pump failed.", id="pump", **session)
        real: Callable[..., Any] = Analysis.analysed

        def analysed(*arguments: Any) -> Any:  # noqa: ANN401
            if other.count():
                other.delete(["pump"])
            return real(*arguments)

        monkeypatch.setattr(Analysis, "analysed", analysed)
        assert memory.add(text, id="pump", metadata={"a": 1}, **session) == ["pump"]
        assert (memory.get("pump").content, memory.get("pump").metadata) == (text, {"a": 1})
        assert memory.admin.check() == []


@pytest.mark.parametrize("hour", [-1, 0.5, 1.5, 2.5, 9])
def test_a_turn_with_a_new_time_moves_to_its_place(hour: float) -> None:
    with NeuroGraphMemory(SMALL) as memory:
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


OTHER = "A heron stood by the mill. The mill was closed on Sunday."


def _by_words(memory: NeuroGraphMemory) -> dict[object, float]:
    """Return the weights of the edges that depend on texts alone. TERM edges have no direction."""
    found: dict[object, float] = {}
    for edge in memory.store.all_edges():
        if edge.type is EdgeType.TERM:
            found[edge.type, frozenset((edge.source_id, edge.target_id))] = edge.weight
        elif edge.type is EdgeType.MENTION:
            found[edge.type, edge.source_id, edge.target_id] = edge.weight
    return found


def test_an_id_given_again_replaces_text_and_metadata(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        assert memory.add("The pump broke on Monday.", id="pump", metadata={"a": 1}, title="Pump") == ["pump"]
        (other,) = memory.add("A heron stood by the mill.")
        memory.feedback(["pump", other])
        born, known = memory.store.get_node("pump").created_at, memory.history.list()[-1].sequence
        assert memory.add("A mill drives the pump.", id="pump", metadata={"b": 2}) == ["pump"]
        node = memory.store.get_node("pump")
        assert (node.content, node.title, node.metadata, node.created_at) == (
            "A mill drives the pump.",
            "Pump",
            {"b": 2},
            born,
        )
        assert memory.history.list()[-1].reason == "add"
        assert memory.retrieve("pump?", top_n=1, as_of=known) == ["The pump broke on Monday."]
        assert memory.store.as_of(known).get_node("pump").found.times == ("on Monday",)
        assert "The pump broke on Monday." not in memory.retrieve("Monday pump", top_n=5)
        # Learned edges stay. Edges that depend on texts match the new texts.
        assert any(edge.type is EdgeType.ASSOC for edge in memory.store.all_edges())
        with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as fresh:
            fresh.add("A mill drives the pump.", id="pump", metadata={"b": 2}, title="Pump")
            fresh.add("A heron stood by the mill.")
            assert _by_words(memory) == pytest.approx(_by_words(fresh))


@pytest.mark.parametrize("owner", ["ana", None])
@pytest.mark.parametrize("thief", ["bob", None])
def test_an_id_of_another_user_is_refused(small: NeuroGraphMemory, owner: str | None, thief: str | None) -> None:
    if owner == thief:
        thief = "eve"
    small.add(LONG, id="note", user_id=owner)
    before = small.store.view().sequence
    for text in ("Mine now.", LONG):
        for content in (message_of(text, id="note"), [message_of(text, id="note"), message_of(text, id="note")]):
            with pytest.raises(InputError):
                small.add(content, user_id=thief)
    assert small.store.view().sequence == before
    # In a list, it costs no other message.
    reserved = message_of("Mine, too.", id=f"chunk-{'0' * 32}")
    added = small.add(["Before.", message_of("Mine now.", id="note"), reserved, "After."], user_id=thief)
    assert [small.get(name).content for name in added] == ["Before.", "After."]
    assert added.refused == 2
    (note,) = added.notes
    assert "content 2" in note and "'note'" in note and "content 3" in note  # noqa: PT018 - of one sentence
    small.delete(added)
    small.delete(["note"])
    # The id of a deleted memory is its user's until a compaction.
    added = small.add(["Before.", message_of("Mine now.", id="note"), "After."], user_id=thief)
    assert (len(added), added.refused) == (2, 1)
    small.delete(added)
    small.admin.compact()
    assert small.count(user_id=ANY_USER) == 0
    small.add("Mine now.", id="note", user_id=thief)
    assert small.get("note").scope.user_id == thief


# An id names all chunks of its text


@pytest.mark.parametrize("session", [None, "s"])
@pytest.mark.parametrize(
    ("first", "second"), [(LONG, "It rained."), ("It rained.", LONG), (LONG, OTHER), (OTHER, LONG)]
)
def test_a_text_is_replaced_in_one_change(
    small: NeuroGraphMemory, first: str, second: str, session: str | None
) -> None:
    small.add(["Before.", message_of(first, id="note"), "After."], session_id=session)
    before = {node.id: node.content for node in small.list()}
    edges = sorted(map(repr, small.store.all_edges()))
    sequence = small.store.view().sequence
    small.add(second, id="note", session_id=session)
    assert small.store.view().sequence == sequence + 1
    if session:
        assert order_of(small) == ["Before.", *(f"{one.strip('.')}." for one in second.split(". ")), "After."]
    assert " ".join(node.content for node in small.list() if node.id.startswith("note")) == second
    assert small.admin.check() == []
    small.undo()
    assert {node.id: node.content for node in small.list()} == before
    assert sorted(map(repr, small.store.all_edges())) == edges


@pytest.mark.parametrize("session", [None, "s"])
def test_an_id_updates_its_whole_text(small: NeuroGraphMemory, session: str | None) -> None:
    small.add(["Before.", message_of(LONG, id="note"), "After."], session_id=session)
    sequence = small.store.view().sequence
    small.update("note", title="Report", metadata={"a": 1}, tags=["red"])
    chunks = [node for node in small.list() if node.id.startswith("note")]
    assert [(node.title, node.metadata, node.tags) for node in chunks] == [("Report", {"a": 1}, ("red",))] * 3
    assert " ".join(node.content for node in chunks) == LONG
    assert small.update("note", OTHER).content == OTHER
    assert [node.content for node in small.list()] == ["Before.", OTHER, "After."]
    assert small.store.view().sequence == sequence + 2
    assert small.admin.check() == []
    if session:
        assert order_of(small) == ["Before.", OTHER, "After."]
    # Adding it again cuts it into chunks.
    small.add(OTHER, id="note", session_id=session)
    assert [node.id for node in small.list() if node.id.startswith("note")] == ["note", "note#1"]


# The ids of texts without one


def test_nobody_takes_or_learns_the_id_of_the_text_of_another_user(memory: NeuroGraphMemory) -> None:
    (known,) = memory.add("The code is 4711.", user_id="ana")
    with NeuroGraphMemory(memory.config.replace(storage="memory")) as other:
        (coming,) = other.add("The code is 4712.", user_id="ana")
    refusals = set()
    for taken in (known, coming):
        with pytest.raises(InputError) as caught:
            memory.add("Mine.", id=taken, user_id="bob")
        refusals.add(str(caught.value).replace(taken, "…"))
    assert len(refusals) == 1
    # A store may hold such a memory all the same.
    memory.store.apply(GraphDelta(nodes=(MemoryNode(coming, "Mine.", scope=Scope("bob")),)))
    for _ in range(2):
        (own,) = memory.add("The code is 4712.", user_id="ana")
        assert own != coming
        assert [node.content for node in memory.list(user_id="ana")] == ["The code is 4711.", "The code is 4712."]
        assert memory.get(coming).content == "Mine."
    memory.delete(coming)
    assert memory.add("The code is 4712.", user_id="ana") == [own]
    # The owner may write to her own memories by their ids.
    assert memory.add("The code is 4713.", id=known, user_id="ana") == [known]


# Refusals


class Meanwhile(HashEmbedder):
    """Does something once while it embeds, when no lock is held."""

    def __init__(self) -> None:
        self.act: Callable[[], object] | None = None

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        act, self.act = self.act, None
        if act is not None:
            act()
        return super().embed_documents(texts)


def said(text: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {"role": "user", "content": text, **more}


def test_a_text_that_is_not_to_replace_leaves_one_that_is_added_at_the_same_time() -> None:
    embedder, long = Meanwhile(), "A heron stands in the reeds and waits. " * 60
    parts = Parts(GraphStore(), embedder, UniformKernelSource())
    with NeuroGraphMemory(MemoryConfig(storage="memory"), parts=parts) as memory:
        embedder.act = lambda: memory.add([said("First.", id="a"), said(long, id="b")], user_id="ana")
        later = [said("Second.", id="a"), said("Short.", id="b"), said("New.", id="c")]
        added = memory.add(later, replace=False, user_id="ana")
        texts = {one.id: one.content for one in memory.list(user_id="ana")}
        assert set(added) == set(texts)
        assert texts.pop("a") == "First."
        assert texts.pop("c") == "New."
        assert " ".join(texts.values()).count("heron") >= 60
        before = memory.store.view().sequence
        assert memory.add(later, replace=False, user_id="ana").notes == ()
        assert memory.store.view().sequence == before
        with pytest.raises(InputError, match="not free"):
            memory.add("Mine.", id="a", replace=False, user_id="bo")


def test_messages_of_frameworks_are_stored_once_by_whoever_comes_first() -> None:
    embedder = Meanwhile()
    parts = Parts(GraphStore(), embedder, UniformKernelSource())
    with NeuroGraphMemory(MemoryConfig(storage="memory"), parts=parts) as memory:
        conversation = Conversation(memory, None, user_id="ana")

        def add_and_correct() -> None:
            conversation.add_new(["m"], [said("Old.")])
            memory.update(conversation.message_ids(["m"])[0], "Corrected.")

        embedder.act = add_and_correct
        conversation.add_new(["m"], [said("Old.")])
        assert [one.content for one in memory.list(user_id="ana")] == ["Corrected."]


def test_what_replaces_nothing_returns_every_chunk_of_a_new_text(small: NeuroGraphMemory) -> None:
    text = (
        "The pump failed at dawn in the mill. The lower field is under water since then. Ana ordered a valve from Lyon."
    )
    assert len(small.add(text, replace=False, user_id="ana")) == small.count(user_id="ana") > 1
