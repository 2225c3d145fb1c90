"""Adding a memory again under the caller's own id replaces it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from neurogated import EdgeType, MemoryConfig, NeuroGraphMemory
from neurogated.errors import InputError
from tests.sessions import LONG, NOON, following_of, message_of, order_of, turns_of


@pytest.fixture(params=["memory", "sqlite"])
def storage(request: pytest.FixtureRequest) -> str:
    return str(request.param)


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
        born, known = memory.store.get_node("pump").created_at, memory.history()[-1].sequence
        assert memory.add("A mill drives the pump.", id="pump", metadata={"b": 2}) == ["pump"]
        node = memory.store.get_node("pump")
        assert (node.content, node.title, node.metadata, node.created_at) == (
            "A mill drives the pump.",
            "Pump",
            {"b": 2},
            born,
        )
        assert memory.history()[-1].reason == "add"
        assert memory.retrieve("pump?", top_n=1, as_of=known) == ["The pump broke on Monday."]
        assert memory.store.as_of(known).get_node("pump").found.times == ("on Monday",)
        assert "The pump broke on Monday." not in memory.retrieve("Monday pump", top_n=5)
        # Learned edges stay. Edges that depend on texts match the new texts.
        assert any(edge.type is EdgeType.ASSOC for edge in memory.store.all_edges())
        with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as fresh:
            fresh.add("A mill drives the pump.", id="pump", metadata={"b": 2}, title="Pump")
            fresh.add("A heron stood by the mill.")
            assert _by_words(memory) == pytest.approx(_by_words(fresh))


def test_an_id_given_again_with_the_same_text_replaces_metadata_alone(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add("Zoë Moor broke the pump on Monday.", id="pump", metadata={"a": 1})
        found = memory.get("pump").found
        assert found.entities
        assert found.times
        edges = list(memory.store.all_edges())
        memory.add("Zoë Moor broke the pump on Monday.", id="pump", metadata={"b": 2})
        assert memory.store.get_node("pump").metadata == {"b": 2}
        assert memory.get("pump").found == found
        assert list(memory.store.all_edges()) == edges
        before = memory.store.view().sequence
        memory.add("Zoë Moor broke the pump on Monday.", id="pump", metadata={"b": 2})
        assert memory.store.view().sequence == before


@pytest.mark.parametrize("together", [True, False])
def test_texts_of_any_length_replace_one_another(small: NeuroGraphMemory, *, together: bool) -> None:
    shorter = LONG[: LONG.index(" The barn")]
    said = [LONG, "It rained.", LONG, shorter, "It rained.", shorter]
    for begin in range(2):
        for first, second in zip(said[begin::2], said[begin + 1 :: 2], strict=False):
            if together:
                small.add([message_of(first, id="note"), message_of(second, id="note")])
            else:
                small.add(first, id="note")
                small.add(second, id="note")
            chunks = {node.id: node.content for node in small.store.all_nodes()}
            assert " ".join(chunks.values()) == second
            assert set(chunks) == {"note", *(f"note#{place}" for place in range(1, len(chunks)))}
            assert len(following_of(small)) == len(chunks) - 1


def test_a_longer_version_of_a_turn_goes_on_where_the_turn_stands(small: NeuroGraphMemory) -> None:
    small.add([message_of(f"Turn {place}.", id=f"turn {place}") for place in range(40)], session_id="s")
    small.add(message_of(LONG, id="turn 3"), session_id="s")
    expected = ["Turn 2.", *(f"{sentence.strip('.')}." for sentence in LONG.split(". ")), "Turn 4."]
    assert order_of(small)[2:7] == expected[:5]
    # A turn that must move is replaced at the same time.
    moment = NOON - timedelta(days=1)
    small.add([message_of("Turn null.", id="turn 0"), message_of("Begin.", timestamp=moment)], session_id="s")
    small.add(message_of("It rained.", id="turn 3"), session_id="s")
    assert [node.content for node in turns_of(small)][:6] == [
        "Turn null.",
        "Turn 1.",
        "Turn 2.",
        "It rained.",
        "Turn 4.",
        "Turn 5.",
    ]


def test_a_turn_that_has_to_move_may_be_replaced_by_the_same_call(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add(message_of("Turn 1.", id="one", timestamp=NOON), session_id="s")
        earlier = message_of("Turn 0.", timestamp=NOON - timedelta(hours=1))
        memory.add([message_of("Turn one.", id="one"), earlier], session_id="s")
        assert order_of(memory) == ["Turn 0.", "Turn one."]


@pytest.mark.parametrize("owner", ["ana", None])
@pytest.mark.parametrize("thief", ["bob", None])
def test_an_id_of_another_user_is_refused(small: NeuroGraphMemory, owner: str | None, thief: str | None) -> None:
    if owner == thief:
        thief = "eve"
    small.add(LONG, id="note", user_id=owner)
    before = small.store.view().sequence
    for text in ("Mine now.", LONG):
        with pytest.raises(InputError, match="a memory of another user has the id 'note'"):
            small.add(["Something else.", message_of(text, id="note")], user_id=thief)
    assert small.store.view().sequence == before
    small.delete(["note"])
    small.compact()
    small.add("Mine now.", id="note", user_id=thief)
    # The edges of the other text stay.
    assert small.store.get_node("note#1").scope.user_id == owner


# Refusals
