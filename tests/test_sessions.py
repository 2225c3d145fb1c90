"""Texts and messages put in with `add`: the order of a session, ids of the caller's own, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurogated import EdgeType, MemoryConfig, MemoryNode, NeuroGraphMemory, Recall
from neurogated.errors import InputError
from neurogated.ingestion import sessions

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
TALK = ("My cat Mio is ill.", "Oh no!", "The vet gave Mio a blue pill.", "Oh no!", "Because of it, Mio sleeps.")
LONG = "The pump failed on Monday. The lower field was flooded on Tuesday. The barn was dry on Friday."


@pytest.fixture(params=["memory", "sqlite"])
def config(request: pytest.FixtureRequest, tmp_path: Path) -> MemoryConfig:
    return MemoryConfig(storage=request.param, save_dir=str(tmp_path / "memory"), embedding_name="hash")


@pytest.fixture
def small(config: MemoryConfig) -> Iterator[NeuroGraphMemory]:
    """Return a memory that makes a chunk of every sentence."""
    with NeuroGraphMemory(config.replace(CHUNK_SIZE=8, CHUNK_OVERLAP=0)) as memory:
        yield memory


def _message(content: str, **more: object) -> dict[str, object]:
    return {"role": "user", "content": content, **more}


def _turns(memory: NeuroGraphMemory, session: str = "s") -> list[MemoryNode]:
    """Return the turns of a session by position."""
    turns = [node for node in memory.store.all_nodes() if node.scope.session_id == session]
    assert all(node.position is not None for node in turns)
    turns.sort(key=lambda node: node.position or 0)
    assert len({node.position for node in turns}) == len(turns)
    return turns


def _next(memory: NeuroGraphMemory) -> set[tuple[str, str]]:
    return {(edge.source_id, edge.target_id) for edge in memory.store.all_edges() if edge.type is EdgeType.SEQ}


def _order(memory: NeuroGraphMemory, session: str = "s") -> list[str]:
    """Return the texts of a session by position, having seen that SEQ edges join each with the next and no others."""
    turns = _turns(memory, session)
    ids = [node.id for node in turns]
    joined = {pair for pair in _next(memory) if set(pair) & set(ids)}
    assert joined == set(pairwise(ids))
    return [node.content for node in turns]


def _seen(recall: Recall) -> list[tuple[str, float, Mapping[str, float]]]:
    return [(one.id, one.score, one.parts) for one in recall]


# What is stored


def test_a_message_is_a_memory_with_role_speaker_time_and_metadata(memory: NeuroGraphMemory) -> None:
    message = _message("I moved to Lyon.", name="Ann", timestamp=NOON, metadata={"mood": "calm"})
    (told,), (noted,) = memory.add(message, user_id="ana", session_id="s", tags=["home"]), memory.add("A note.")
    node, note = memory.store.get_nodes([told, noted])
    assert (node.content, node.role, node.speaker, node.timestamp) == ("I moved to Lyon.", "user", "Ann", NOON)
    assert (node.scope.user_id, node.scope.session_id, node.tags) == ("ana", "s", ("home",))
    assert node.metadata == {"mood": "calm", "entities": ["Lyon"]}
    assert node.position is not None
    assert (note.role, note.speaker, note.timestamp, note.position) == (None, None, None, None)


def test_what_is_said_of_all_holds_unless_a_message_says_otherwise(memory: NeuroGraphMemory) -> None:
    later = NOON + timedelta(hours=1)
    ids = memory.add(["One.", _message("Two.", timestamp=later)], timestamp=NOON, title="Numbers", importance=0.9)
    assert [(node.title, node.importance, node.timestamp) for node in memory.store.get_nodes(ids)] == [
        ("Numbers", 0.9, NOON),
        ("Numbers", 0.9, later),
    ]


def test_the_same_words_are_two_turns_of_a_session_and_one_document(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        assert len({*memory.add(["Oh no!", "Oh no!"], session_id="s"), *memory.add("Oh no!", session_id="s")}) == 3
        assert _order(memory) == ["Oh no!"] * 3
        before = memory.store.view().sequence + 1
        assert len({*memory.add(["Oh no!", "Oh no!"]), *memory.add("Oh no!")}) == 1
        assert memory.store.view().sequence == before


@pytest.mark.parametrize("name", ["title", "speaker", "role", "timestamp", "date", "context"])
def test_metadata_changes_nothing_in_what_is_recalled(name: str) -> None:
    recalls = []
    for metadata in ({}, {name: "Mio the cat"}):
        with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
            for place, text in enumerate(TALK):
                memory.add(text, metadata=metadata, id=f"turn {place}")
            assert all(node.metadata.items() >= metadata.items() for node in memory.store.all_nodes())
            recalls.append(_seen(memory.recall("Why does Mio the cat sleep?", top_n=5)))
    assert recalls[0] == recalls[1]


# The order of a session


def test_a_session_is_the_same_fed_at_once_and_message_by_message(config: MemoryConfig, tmp_path: Path) -> None:
    messages = [_message(f"{text} Turn {place}.", timestamp=NOON) for place, text in enumerate(TALK * 2)]
    orders, causes = [], []
    for number, size in enumerate((10, 1, 3)):
        there = config.replace(save_dir=str(tmp_path / str(number)), INDEX_BATCH=2 if size == 3 else 100)
        with NeuroGraphMemory(there) as memory:
            for begin in range(0, len(messages), size):
                memory.add(messages[begin : begin + size], user_id="ana", session_id="s")
            orders.append(_order(memory))
            text = {node.id: node.content for node in memory.store.all_nodes()}
            kept = [edge for edge in memory.store.all_edges() if edge.type is EdgeType.CAUSE]
            causes.append({(text[edge.source_id], text[edge.target_id]) for edge in kept})
    assert orders[0] == orders[1] == orders[2] == [message["content"] for message in messages]
    assert causes[0] == causes[1] == causes[2]
    assert causes[0]


def test_sessions_are_told_apart_by_name_and_user(memory: NeuroGraphMemory) -> None:
    for place in range(3):
        memory.add(f"One {place}.", user_id="ana", session_id="one")
        memory.add(f"Two {place}.", user_id="ana", session_id="two")
        memory.add(f"Three {place}.", user_id="bob", session_id="three")
        memory.add(f"Four {place}.", session_id="four")
        memory.add(f"None {place}.", user_id="ana")
    for name in ("One", "Two", "Three", "Four"):
        assert _order(memory, name.lower()) == [f"{name} {place}." for place in range(3)]
    assert len(_next(memory)) == 8


def _fed(calls: Sequence[Sequence[int | None]], step: int) -> list[str]:
    """Return the order of a session whose turns came at these hours, where positions lie `step` apart."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions, "_STEP", step)
        patch.setattr(sessions, "_READ", 2)
        with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
            number = 0
            for hours in calls:
                messages = []
                for hour in hours:
                    moment = {} if hour is None else {"timestamp": NOON + timedelta(hours=hour)}
                    messages.append(_message(f"Turn {number}.", **moment))
                    number += 1
                memory.add(messages, session_id="s")
            return _order(memory)


_STEPS = st.sampled_from([1, 3, 1 << 20])


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), max_size=7), _STEPS)
@settings(max_examples=40)
def test_late_turns_find_their_place_as_a_stable_sort_puts_them(calls: list[list[int]], step: int) -> None:
    hours = [hour for call in calls for hour in call]
    expected = sorted(range(len(hours)), key=hours.__getitem__)
    assert _fed(calls, step) == [f"Turn {number}." for number in expected]


@given(st.lists(st.lists(st.none() | st.integers(0, 5), min_size=1, max_size=4), max_size=6), _STEPS)
@settings(max_examples=40)
def test_a_turn_without_a_time_follows_all_that_came_before_it(calls: list[list[int | None]], step: int) -> None:
    hours = [hour for call in calls for hour in call]
    order = [int(text[5:-1]) for text in _fed(calls, step)]
    timed = [number for number, hour in enumerate(hours) if hour is not None]
    assert [number for number in order if hours[number] is not None] == sorted(timed, key=lambda one: hours[one] or 0)
    for place, number in enumerate(order):
        if hours[number] is None:
            assert set(range(number)) <= set(order[:place])


def test_turns_that_come_backwards_find_room(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        for hour in reversed(range(12)):
            memory.add(_message(f"Turn {hour}.", timestamp=NOON + timedelta(hours=hour)), session_id="s")
        assert _order(memory) == [f"Turn {hour}." for hour in range(12)]


# Several writers


def _say(memory: NeuroGraphMemory, name: str, count: int) -> None:
    for place in range(count):
        memory.add(_message(f"{name} {place}.", name=name), user_id="ana", session_id="s")


def _assert_whole(memory: NeuroGraphMemory, names: Sequence[str], count: int) -> None:
    order = _order(memory)
    assert len(order) == len(names) * count
    for name in names:
        assert [text for text in order if text.startswith(name)] == [f"{name} {place}." for place in range(count)]


def test_threads_lose_no_turn_of_one_session(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory, ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: _say(memory, name, 8), ["Ann", "Bo"]))
        _assert_whole(memory, ["Ann", "Bo"], 8)


def test_two_memories_of_one_folder_lose_no_turn_of_one_session(tmp_path: Path) -> None:
    config = MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")
    with NeuroGraphMemory(config) as one, NeuroGraphMemory(config) as other, ThreadPoolExecutor(2) as pool:
        list(pool.map(_say, [one, other], ["Ann", "Bo"], [8, 8]))
        for memory in (one, other):
            _assert_whole(memory, ["Ann", "Bo"], 8)
        assert one.check() == []


_SAYING = """
import sys
from neurogated import MemoryConfig, NeuroGraphMemory
folder, name = sys.argv[1:]
with NeuroGraphMemory(MemoryConfig(save_dir=folder, embedding_name="hash")) as memory:
    print("open", flush=True)
    sys.stdin.readline()
    for place in range(8):
        memory.add({"role": "user", "name": name, "content": f"{name} {place}."}, user_id="ana", session_id="s")
"""


def test_two_processes_lose_no_turn_of_one_session(tmp_path: Path) -> None:
    names = ["Ann", "Bo"]
    commands = [[sys.executable, "-c", _SAYING, str(tmp_path), name] for name in names]
    saying = [subprocess.Popen(one, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for one in commands]
    # They begin together.
    assert [one.stdout and one.stdout.readline() for one in saying] == ["open\n"] * 2
    for one in saying:
        assert one.stdin
        one.stdin.write("\n")
        one.stdin.flush()
    for one in saying:
        one.communicate(timeout=300)
        assert one.returncode == 0
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")) as memory:
        _assert_whole(memory, names, 8)
        assert memory.check() == []


# An id of the caller's own


def _by_words(memory: NeuroGraphMemory) -> dict[object, float]:
    """Return the weights of the edges that follow from texts alone; TERM edges have no direction."""
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
        assert memory.store.as_of(known).get_node("pump").metadata == {"a": 1, "times": ["on Monday"]}
        assert "The pump broke on Monday." not in memory.retrieve("Monday pump", top_n=5)
        # What use made stays; what follows from the texts is that of the new ones.
        assert any(edge.type is EdgeType.ASSOC for edge in memory.store.all_edges())
        with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as fresh:
            fresh.add("A mill drives the pump.", id="pump", metadata={"b": 2}, title="Pump")
            fresh.add("A heron stood by the mill.")
            assert _by_words(memory) == pytest.approx(_by_words(fresh))


def test_an_id_given_again_with_the_same_text_replaces_metadata_alone(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add("Zoë Moor broke the pump on Monday.", id="pump", metadata={"a": 1})
        found = {name: value for name, value in memory.store.get_node("pump").metadata.items() if name != "a"}
        assert set(found) == {"entities", "times"}
        edges = list(memory.store.all_edges())
        memory.add("Zoë Moor broke the pump on Monday.", id="pump", metadata={"b": 2})
        assert memory.store.get_node("pump").metadata == {**found, "b": 2}
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
                small.add([_message(first, id="note"), _message(second, id="note")])
            else:
                small.add(first, id="note")
                small.add(second, id="note")
            chunks = {node.id: node.content for node in small.store.all_nodes()}
            assert " ".join(chunks.values()) == second
            assert set(chunks) == {"note", *(f"note#{place}" for place in range(1, len(chunks)))}
            assert len(_next(small)) == len(chunks) - 1


def test_a_longer_version_of_a_turn_goes_on_where_the_turn_stands(small: NeuroGraphMemory) -> None:
    small.add([_message(f"Turn {place}.", id=f"turn {place}") for place in range(40)], session_id="s")
    small.add(_message(LONG, id="turn 3"), session_id="s")
    expected = ["Turn 2.", *(f"{sentence.strip('.')}." for sentence in LONG.split(". ")), "Turn 4."]
    assert _order(small)[2:7] == expected[:5]
    # A turn to be moved is replaced at the same time.
    moment = NOON - timedelta(days=1)
    small.add([_message("Turn null.", id="turn 0"), _message("Begin.", timestamp=moment)], session_id="s")
    small.add(_message("It rained.", id="turn 3"), session_id="s")
    assert [node.content for node in _turns(small)][:6] == [
        "Turn null.",
        "Turn 1.",
        "Turn 2.",
        "It rained.",
        "Turn 4.",
        "Turn 5.",
    ]


def test_a_turn_that_has_to_move_may_be_replaced_by_the_same_call(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add(_message("Turn 1.", id="one", timestamp=NOON), session_id="s")
        earlier = _message("Turn 0.", timestamp=NOON - timedelta(hours=1))
        memory.add([_message("Turn one.", id="one"), earlier], session_id="s")
        assert _order(memory) == ["Turn 0.", "Turn one."]


@pytest.mark.parametrize("owner", ["ana", None])
@pytest.mark.parametrize("thief", ["bob", None])
def test_an_id_of_another_user_is_refused(small: NeuroGraphMemory, owner: str | None, thief: str | None) -> None:
    if owner == thief:
        thief = "eve"
    small.add(LONG, id="note", user_id=owner)
    before = small.store.view().sequence
    for text in ("Mine now.", LONG):
        with pytest.raises(InputError, match="'note' is taken by a memory of another user"):
            small.add(["Something else.", _message(text, id="note")], user_id=thief)
    assert small.store.view().sequence == before
    small.delete(["note"])
    small.compact()
    small.add("Mine now.", id="note", user_id=thief)
    # What is left of the other text stays.
    assert small.store.get_node("note#1").scope.user_id == owner


# What is refused


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"role": "user", "content": "x", "text": "y"}, "unknown keys text of a message; known are content, id"),
        (
            [{"role": "user", "content": "x"}, {"role": "user", "content": "x", "when": 1}],
            "content 1: unknown keys when",
        ),
        ({"content": "x"}, "no role"),
        ({"role": "user"}, "no content"),
        ({}, "no content and no role"),
        ({"role": "user", "content": None}, "must be text, not NoneType"),
        ({"role": 5, "content": "x"}, "role of a message must be text, not int"),
        ({"role": "user", "content": "x", "name": ["Ann"]}, "name of a message must be text, not list"),
        ({"role": "user", "content": "x", "timestamp": "today"}, "timestamp"),
        ({"role": "user", "content": "x", "metadata": {"x": {1}}}, "not JSON"),
        ({"role": "user", "content": "x", "id": ""}, "id"),
        ({"role": "user", "content": "x", "id": "note#3"}, "'note#3' ends like that of a chunk"),
        ({"role": "user", "content": "  "}, "empty or blank"),
        (["x", " "], "content 1: a passage is empty or blank"),
        (["x", 42], "content 1: 42 is neither text nor a message"),
        (42, "42 is neither text nor a message"),
        (b"x", "neither text nor a message"),
        ({"x"}, "neither text nor a message"),
    ],
)
def test_what_is_no_text_or_message_is_refused_by_name(
    memory: NeuroGraphMemory,
    content: Any,  # noqa: ANN401
    message: str,
) -> None:
    with pytest.raises(InputError, match=message):
        memory.add(content, session_id="s")
    assert memory.history() == []


@pytest.mark.parametrize(
    ("details", "message"),
    [
        ({"usr_id": "ana"}, "unknown argument usr_id; known are id, title"),
        ({"speaker": "Ann", "when": 1}, "unknown argument speaker, when"),
        ({"id": "two"}, "'two' is given for 2 memories; give every message an id of its own"),
        ({"importance": 2.0}, "importance"),
        ({"tags": "home"}, "tags"),
        ({"ttl": 0}, "above 0"),
        ({"user_id": ""}, "user_id is empty"),
        ({"path": "home"}, "path"),
        ({"valid_from": NOON, "valid_to": NOON}, "must lie after"),
    ],
)
def test_an_argument_that_is_unknown_or_does_not_fit_is_refused_by_name(
    memory: NeuroGraphMemory, details: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        memory.add(["One.", "Two."], **details)
    assert memory.history() == []


def test_no_messages_are_no_memories(memory: NeuroGraphMemory) -> None:
    assert memory.add([], session_id="s") == []
    assert memory.history() == []
