"""Echoes: words that came out of the memory are not stored as news; what a user says herself always is."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.context.echo import HandedOut
from neurogated.testing import ManualClock

BARN = "I keep bees behind the barn."
SISTER = "My sister lives in Oslo."


@pytest.fixture(scope="module")
def spoken() -> Iterator[NeuroGraphMemory]:
    """Return a memory with two statements that a recall has just handed out."""
    with NeuroGraphMemory(MemoryConfig(storage="memory")) as memory:
        for text in (BARN, SISTER):
            memory.add({"role": "user", "content": text}, user_id="ana", session_id="one")
        assert len(memory.recall("What do you know about me?", user_id="ana", top_n=5)) == 2
        yield memory


def say(memory: NeuroGraphMemory, text: str, role: str = "assistant", user: str | None = "ana") -> bool:
    """Return whether a message is stored."""
    before = memory.count(user_id=user)
    ids = memory.add({"role": role, "content": text}, user_id=user, session_id="two")
    assert ids
    return memory.count(user_id=user) > before


@pytest.mark.parametrize(
    "text",
    [
        BARN,
        f"{SISTER} {BARN}",
        "You keep bees behind the barn.",
        "You told me that you keep bees behind the barn.",
        "Your sister is living in Oslo.",
        'You said: "I keep bees behind the barn."',
    ],
)
def test_an_assistant_who_repeats_recalled_memories_is_an_echo(spoken: NeuroGraphMemory, text: str) -> None:
    assert not say(spoken, text)


@pytest.mark.parametrize(
    "text",
    [
        "You keep bees behind the house.",
        "You keep twelve bees behind the barn.",
        "You do not keep bees behind the barn.",
        "Your sister lives in Bergen.",
        "Your brother lives in Oslo.",
        f"{BARN} They need a new hive.",
        "Yes.",
    ],
)
def test_a_message_with_anything_new_is_stored(spoken: NeuroGraphMemory, text: str) -> None:
    assert say(spoken, text)


def test_a_user_is_never_an_echo(spoken: NeuroGraphMemory) -> None:
    assert say(spoken, BARN, role="user")


@pytest.mark.parametrize("role", ["user", "assistant", "tool"])
def test_a_quotation_of_memories_is_not_stored_and_the_words_beside_it_are(memory: NeuroGraphMemory, role: str) -> None:
    memory.add({"role": "user", "name": "Ana", "content": f"<b>{BARN}\nAnd hens."}, session_id="one")
    told: list[tuple[str, list[str]]] = []
    memory.on("echoed", lambda text, ids: told.append((text, ids)))
    recall = memory.recall("bees")
    for block in (recall.as_text(), memory.get_context("bees").text):
        assert memory.add({"role": role, "content": block}, session_id="two") == list(recall.ids)
        (name,) = memory.add({"role": role, "content": f"Now I sell honey.\n{block}"}, session_id="two")
        assert memory.get(name).content == "Now I sell honey."
    assert [ids for _, ids in told] == [list(recall.ids)] * 4
    forged = recall.as_text().replace("hens", "wolves")
    (name,) = memory.add({"role": role, "content": forged}, session_id="two")
    assert memory.get(name).content == forged


def test_an_echo_counts_as_a_use(memory: NeuroGraphMemory) -> None:
    (name,) = memory.add({"role": "user", "content": BARN}, session_id="one")
    memory.recall("bees")
    assert memory.add({"role": "assistant", "content": BARN}, session_id="one") == [name]
    memory.flush()
    assert memory.get(name).uses == 2


def test_only_memories_that_a_recall_handed_out_to_this_user_are_echoed(memory: NeuroGraphMemory) -> None:
    memory.add({"role": "user", "content": BARN}, session_id="one")
    assert say(memory, BARN, user=None)
    memory.recall("bees", top_n=1)
    assert say(memory, BARN, user="ben")
    assert not say(memory, BARN, user=None)


def test_memories_that_were_handed_out_long_ago_or_before_many_others_are_forgotten(clock: ManualClock) -> None:
    handed = HandedOut(MetabolismSettings(echo_minutes=60, echo_memories=3, canvas_count=2))
    handed.add("a", "ana", ["1", "2"], clock())
    clock.advance(timedelta(minutes=40))
    handed.add("a", "ana", ["3", "4"], clock())
    assert handed.ids("a", "ana", clock()) == ["3", "4", "1"]
    clock.advance(timedelta(minutes=40))
    assert handed.ids("a", "ana", clock()) == ["3", "4"]
    assert handed.ids("b", "ana", clock()) == handed.ids("a", None, clock()) == []
    for user in ("ben", "eve"):
        handed.add("a", user, ["5"], clock())
    assert handed.ids("a", "ana", clock()) == []


def test_a_setting_stores_echoes(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config.replace(metabolism={"echo_minutes": 0})) as memory:
        memory.add({"role": "user", "content": BARN}, session_id="one")
        memory.recall("bees")
        assert say(memory, BARN, user=None)


def test_a_message_with_an_id_and_a_deleted_memory_are_stored(memory: NeuroGraphMemory) -> None:
    (name,) = memory.add({"role": "user", "content": BARN}, session_id="one")
    memory.recall("bees")
    assert memory.add({"role": "assistant", "content": BARN, "id": "m1"}, session_id="one") == ["m1"]
    memory.delete([name, "m1"])
    assert say(memory, BARN, user=None)


def test_a_list_returns_the_ids_of_all_its_messages_in_order(memory: NeuroGraphMemory) -> None:
    (name,) = memory.add({"role": "user", "content": BARN}, session_id="one")
    memory.recall("bees")
    said = [("user", "Who keeps bees?"), ("assistant", BARN), ("user", "Indeed.")]
    first, echoed, last = memory.add([{"role": role, "content": text} for role, text in said], session_id="two")
    assert echoed == name
    assert [memory.get(one).content for one in (first, last)] == ["Who keeps bees?", "Indeed."]
