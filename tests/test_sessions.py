"""Texts and messages given to `add`: storage, the order of a session, and refusals."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from neurogated import EdgeType, MemoryConfig, NeuroGraphMemory
from neurogated.compose import build
from neurogated.testing import ManualClock
from tests.sessions import NOON, TALK, following_of, message_of, order_of

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


def test_a_session_is_the_same_fed_at_once_and_message_by_message(config: MemoryConfig, tmp_path: Path) -> None:
    messages = [message_of(f"{text} Turn {place}.", timestamp=NOON) for place, text in enumerate(TALK * 2)]
    orders, causes = [], []
    for number, size in enumerate((10, 1, 3)):
        there = config.replace(save_dir=str(tmp_path / str(number)))
        with NeuroGraphMemory(there) as memory:
            for begin in range(0, len(messages), size):
                memory.add(messages[begin : begin + size], user_id="ana", session_id="s")
            orders.append(order_of(memory))
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
        assert order_of(memory, name.lower()) == [f"{name} {place}." for place in range(3)]
    assert len(following_of(memory)) == 8


# Several writers


def _assert_whole(memory: NeuroGraphMemory, names: Sequence[str], count: int) -> None:
    order = order_of(memory)
    assert len(order) == len(names) * count
    for name in names:
        assert [text for text in order if text.startswith(name)] == [f"{name} {place}." for place in range(count)]


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
    # The threads start together.
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
        assert memory.admin.check() == []


# An id of the caller's own


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
