"""Echoes: exact quotations of memories are not stored if the setting says so; all else always is."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.compose import build
from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.context.echo import EchoFinder, HandedOut
from neurogated.context.layout import line_of, text_of
from neurogated.core.quoting import CLOSING, OPENING, estimated_tokens, quoted_memories
from neurogated.core.scope import Scope
from neurogated.errors import NeurogatedError
from neurogated.testing import ManualClock

BARN = "I keep bees behind the barn."
NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)


@pytest.fixture
def config(config: MemoryConfig) -> MemoryConfig:
    return config.replace(metabolism={"skip_echoes": True})


def hear(memory: NeuroGraphMemory, text: str = BARN, **about: Any) -> str:  # noqa: ANN401 - arguments of `add`
    """Store a message of the user, recall it, and return its id."""
    (name,) = memory.add({"role": "user", "content": text}, **about)
    owner = {key: value for key, value in about.items() if key in {"user_id", "agent_id", "session_id"}}
    assert name in memory.recall(text, top_n=5, **owner).ids
    return name


def stores(memory: NeuroGraphMemory, text: str, role: str = "assistant", **about: Any) -> bool:  # noqa: ANN401 - arguments of `add`
    """Return whether a message is stored as it is."""
    before = memory.count(user_id=about.get("user_id"))
    (name, *_) = memory.add({"role": role, "content": text}, **about)
    is_new = memory.count(user_id=about.get("user_id")) == before + 1
    return is_new and memory.get(name).content == text.strip()


@pytest.mark.parametrize(
    "text", [f'"{BARN}"', f" “{BARN} ” ", f"„{BARN}“", f"«{BARN}»", f'"{BARN}"'.replace(" ", "\n")]
)
def test_a_whole_memory_in_quotation_marks_is_an_echo(memory: NeuroGraphMemory, text: str) -> None:
    name = hear(memory)
    assert memory.add({"role": "assistant", "content": text}) == [name]
    assert memory.count() == 1


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (BARN, BARN),
        ("I will send the report.", "I will send the report."),
        (BARN, f'You said: "{BARN}"'),
        (BARN, f'Nobody said "{BARN}"'),
        (BARN, f'"{BARN}" Is that so?'),
        (BARN, f'"{BARN}'),
        (BARN, f'"{BARN}»'),
        (BARN, '"'),
        (BARN, '"I keep bees behind the barn?"'),
        (BARN, '"I keep bees behind the Barn."'),
        (BARN, '"I keep bees behind the barn"'),
        ("My blood type is B+.", '"My blood type is B-."'),
        ("It is 5 degrees.", '"It is -5 degrees."'),
        (f"{BARN} And hens.", f'"{BARN}"'),
    ],
)
def test_a_message_that_differs_at_all_or_is_no_quotation_is_stored(
    memory: NeuroGraphMemory, told: str, said: str
) -> None:
    hear(memory, told)
    assert stores(memory, said)


def test_a_user_is_never_an_echo(memory: NeuroGraphMemory) -> None:
    hear(memory)
    assert stores(memory, f'"{BARN}"', role="user")


def test_a_quotation_on_another_day_is_news(clock: ManualClock, config: MemoryConfig) -> None:
    with NeuroGraphMemory(config, parts=build(config, clock)) as memory:
        failed = "The deployment failed yesterday."
        hear(memory, failed)
        assert not stores(memory, f'"{failed}"')
        clock.advance(timedelta(days=18))
        assert len(memory.recall(failed)) == 1
        assert stores(memory, f'"{failed}"')


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"user_id": "ana", "agent_id": "a"}, {"user_id": "ana", "agent_id": "b"}),
        ({"user_id": "ana", "agent_id": "a"}, {"user_id": "ana"}),
        ({"session_id": "one"}, {"session_id": "two"}),
        ({"session_id": "one"}, {}),
        ({"path": ["work"]}, {"path": ["home"]}),
        ({"path": ["work"]}, {}),
        ({"user_id": "ana"}, {"user_id": "ben"}),
        ({"user_id": "ana"}, {}),
        ({}, {"user_id": "ana"}),
    ],
)
def test_a_memory_of_another_owner_is_not_echoed(
    memory: NeuroGraphMemory, first: dict[str, Any], second: dict[str, Any]
) -> None:
    hear(memory, **first)
    block = memory.recall(BARN, top_n=5, user_id=first.get("user_id")).as_text()
    memory.recall(BARN, top_n=5, user_id=second.get("user_id"))
    assert stores(memory, f'"{BARN}"', **second)
    assert stores(memory, block, role="user", **second)


def test_a_memory_without_a_session_is_echoed_in_a_session(memory: NeuroGraphMemory) -> None:
    about: dict[str, Any] = {"user_id": "ana", "agent_id": "a", "path": ["work"]}
    hear(memory, **about)
    assert not stores(memory, f'"{BARN}"', session_id="one", **about)


@pytest.mark.parametrize(
    "about",
    [{"ttl": 1000}, {"valid_to": datetime(2126, 1, 1, tzinfo=UTC)}, {"valid_from": datetime(2020, 1, 1, tzinfo=UTC)}],
)
def test_a_memory_that_expires_or_holds_for_a_time_is_not_echoed(
    memory: NeuroGraphMemory, about: dict[str, Any]
) -> None:
    hear(memory, **about)
    assert stores(memory, f'"{BARN}"')


@pytest.mark.parametrize(
    "about",
    [
        {"metadata": {"approved": True}},
        {"tags": ["bees"]},
        {"title": "Bees"},
        {"kind": "policy"},
        {"importance": 0.9},
        {"ttl": 1000},
        {"timestamp": "2026-01-01"},
        {"valid_from": datetime(2020, 1, 1, tzinfo=UTC)},
        {"valid_to": datetime(2126, 1, 1, tzinfo=UTC)},
        {"id": "m1"},
    ],
)
def test_a_message_with_details_of_its_own_is_stored(memory: NeuroGraphMemory, about: dict[str, Any]) -> None:
    hear(memory)
    block = memory.recall("bees").as_text()
    assert stores(memory, f'"{BARN}"', **about)
    assert stores(memory, block, **{key: "m2" if key == "id" else value for key, value in about.items()})


@pytest.mark.parametrize("role", ["user", "assistant", "tool"])
def test_a_block_of_memories_is_not_stored_and_the_words_beside_it_are(memory: NeuroGraphMemory, role: str) -> None:
    hear(memory, f"<b>{BARN}\n\nAnd hens.")
    hear(memory, "# My bees\n- are black.")
    told: list[tuple[str, list[str]]] = []
    memory.on("echoed", lambda text, ids: told.append((text, ids)))
    recall = memory.recall("bees", top_n=5)
    assert len(recall) == 2
    for block in (recall.as_text(), memory.get_context("bees").text):
        assert set(memory.add({"role": role, "content": block})) == set(recall.ids)
        (name,) = memory.add({"role": role, "content": f"Now I sell honey.\n{block}", "metadata": {"a": 1}})
        assert (memory.get(name).content, memory.get(name).metadata) == ("Now I sell honey.", {"a": 1})
        memory.delete(name)
    assert [set(ids) for _, ids in told] == [set(recall.ids)] * 4


def test_lines_of_contested_memories_are_echoes(memory: NeuroGraphMemory) -> None:
    for city in ("Lyon", "Rome"):
        memory.add_fact("Ana", "city", city)
    (conflict,) = memory.conflicts()
    for verdict in ("contested", "superseded"):
        if verdict == "superseded":
            memory.resolve(conflict.id, keep=conflict.second)
        recall = memory.recall("Which city does Ana live in?", top_n=5)
        context = memory.get_context("Which city does Ana live in?").text
        for block in (recall.as_text(), context):
            assert memory.count() == 2
            assert set(memory.add({"role": "user", "content": block})) <= set(recall.ids)
    assert memory.count() == 2


@pytest.mark.parametrize(
    "block",
    [
        "- I got divorced.",
        f"# undated\n- user: {BARN}\nI got divorced.",
        f"# undated\n- user: {BARN}\n  I got divorced.",
        f"# undated\n- user: {BARN}\n# My PIN is 9922",
        f"# My PIN is 9922\n- user: {BARN}",
        f"# undated\n- [no longer] user: {BARN}",
        f"# undated\n- Bob: {BARN}",
        f"- user: {BARN}",
        f"I got divorced.\n# undated\n- user: {BARN}",
        "# undated",
        "",
        f'<memory speaker="user">{BARN}</memory> I got divorced.',
        f'<memory speaker="user">{BARN}</memory>\nI got divorced.',
        f'<memory speaker="user">{BARN} No.</memory>',
        f'<memory note="My PIN is 9922" speaker="user">{BARN}</memory>',
        f'I got divorced.\n<memory speaker="user">{BARN}</memory>',
        f'<memory speaker="user">{BARN}',
    ],
)
def test_a_block_with_anything_else_is_stored(memory: NeuroGraphMemory, block: str) -> None:
    hear(memory)
    for text in (f"{OPENING}\n{block}\n{CLOSING}", f"{OPENING}\n{block}"):
        assert stores(memory, text, role="user")


WORDS = st.text(st.sampled_from('ab"- #<>&\n'), min_size=1, max_size=12).filter(lambda text: bool(text.strip()))


@given(told=st.lists(WORDS, min_size=1, max_size=3), parts=st.lists(WORDS, min_size=2, max_size=3), data=st.data())
def test_only_exact_blocks_are_taken_out_and_everything_else_stays(
    told: list[str], parts: list[str], data: st.DataObject
) -> None:
    """The words beside blocks stay in order, and a block with a line of another memory stays whole."""
    nodes = [MemoryNode(f"m{n}", text, role="user") for n, text in enumerate(told)]
    strange = MemoryNode("x", "".join(told) + "!", role="user")
    finder = EchoFinder(nodes, Scope(), NOW)
    text, left, names = "", "", []
    for part in parts:
        shown = data.draw(st.permutations(nodes))
        is_forged = data.draw(st.booleans())
        among = [*shown, strange] if is_forged else shown
        as_lines = data.draw(st.booleans())
        lines = [line_of(node, place) for place, node in enumerate(among)]
        block = text_of(lines) if as_lines else quoted_memories(among, None, estimated_tokens)
        text += f"{part}{block}"
        left += f"{part}{block}" if is_forged else part
        names += [] if is_forged else [node.id for node in nodes]
    said, found = finder.outside(text)
    assert said == (left.strip() if names else text)
    assert {told[int(name[1:])] for name in found} == ({node.content for node in nodes} if names else set())


def test_time_is_linear_in_the_length_of_a_message() -> None:
    finder = EchoFinder([MemoryNode("m", BARN, role="user")], Scope(), NOW)
    for text in (
        f"{OPENING}\n- " * 20_000,
        f"{OPENING}\n" + "- x\n  " * 200_000 + CLOSING,
        "<memory " * 200_000,
        '"' * 10**6,
    ):
        begin = time.perf_counter()
        assert finder.outside(text) == (text, [])
        assert finder.quoted(text) is None
        assert time.perf_counter() - begin < 5


def test_an_echo_counts_as_a_use(memory: NeuroGraphMemory) -> None:
    name = hear(memory)
    assert memory.add({"role": "assistant", "content": f'"{BARN}"'}) == [name]
    memory.flush()
    assert memory.get(name).uses == 2


def test_memories_that_were_handed_out_long_ago_or_before_many_others_are_forgotten(clock: ManualClock) -> None:
    handed = HandedOut(MetabolismSettings(skip_echoes=True, echo_minutes=60, echo_memories=3, canvas_count=2))
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


def test_by_default_everything_is_stored(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config.replace(metabolism={"skip_echoes": MetabolismSettings().skip_echoes})) as memory:
        hear(memory)
        block = memory.recall("bees").as_text()
        assert stores(memory, f'"{BARN}"')
        assert stores(memory, block)


def test_a_memory_that_only_reads_refuses_an_echo(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        hear(memory)
    with NeuroGraphMemory(config.replace(read_only=True)) as memory:
        block = memory.recall("bees").as_text()
        for text in (f'"{BARN}"', block):
            with pytest.raises(NeurogatedError):
                memory.add({"role": "assistant", "content": text})


def test_a_deleted_memory_is_not_echoed(memory: NeuroGraphMemory) -> None:
    memory.delete(hear(memory))
    assert stores(memory, f'"{BARN}"')


def test_a_list_returns_the_ids_of_all_its_messages_in_order(memory: NeuroGraphMemory) -> None:
    name = hear(memory)
    said = [("user", "Who keeps bees?"), ("assistant", f'"{BARN}"'), ("user", "Indeed.")]
    first, echoed, last = memory.add([{"role": role, "content": text} for role, text in said], session_id="two")
    assert echoed == name
    assert [memory.get(one).content for one in (first, last)] == ["Who keeps bees?", "Indeed."]
