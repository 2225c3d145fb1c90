"""Echoes: messages that repeat recalled memories are stored, linked, and stay behind these memories."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import ANY_USER, EdgeType, MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.context.echo import HandedOut, without_blocks
from neurogated.core.quoting import CLOSING, OPENING, framed, plain, quoted_memories, quoted_memory
from neurogated.core.tokens import prompt_tokens
from tests.golden import rows

BARN = "I keep bees behind the barn."


@pytest.fixture
def skipping(config: MemoryConfig) -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(config.replace(storage="memory", metabolism={"echoes": "skip"})) as memory:
        yield memory


def hear(memory: NeuroGraphMemory, text: str = BARN, **about: Any) -> str:  # noqa: ANN401 - arguments of `add`
    """Store a message of the user, recall it, and return its id."""
    (name,) = memory.add({"role": "user", "content": text}, **about)
    owner = {key: value for key, value in about.items() if key in {"user_id", "agent_id", "session_id"}}
    assert name in memory.recall(text, top_n=5, **owner).ids
    return name


def echoed(memory: NeuroGraphMemory, text: str, role: str = "assistant", **about: Any) -> list[str]:  # noqa: ANN401 - arguments of `add`
    """Store a message, and return the ids of the memories that it echoes. Its text is stored as it is."""
    (name, *_) = memory.add({"role": role, "content": text}, **about)
    assert memory.get(name).content == text.rstrip()
    found = {
        edge.target_id: edge.weight
        for edge in memory.store.all_edges()
        if (edge.type, edge.source_id) == (EdgeType.ECHO, name)
    }
    assert not found or sum(found.values()) == pytest.approx(1.0)
    return sorted(found)


@pytest.mark.parametrize(
    "text",
    [
        BARN,
        f'"{BARN}"',
        f" “{BARN} ” ",
        f"«{BARN}»",
        f'You said: "{BARN}"',
        "You keep bees behind the barn.",
        "You mentioned that you keep bees behind the barn.",
        f"{BARN} You keep bees behind the barn.",
    ],
)
def test_an_assistant_that_repeats_a_memory_is_an_echo(memory: NeuroGraphMemory, text: str) -> None:
    name = hear(memory)
    assert echoed(memory, text, session_id="one") == [name]


@pytest.mark.parametrize(
    ("told", "said"),
    rows(__file__, "news"),
)
def test_a_message_that_says_anything_else_is_news(memory: NeuroGraphMemory, told: str, said: str) -> None:
    hear(memory, told)
    assert echoed(memory, said) == []


def test_an_echo_stays_behind_its_memory_and_is_not_lost(memory: NeuroGraphMemory) -> None:
    name = hear(memory)
    (echo,) = memory.add({"role": "assistant", "content": "You keep bees behind the barn."})
    assert memory.recall("Where do you keep bees?", top_n=5).ids == (name,)
    assert set(memory.recall("bees", top_n=5, include_duplicates=True).ids) == {name, echo}
    assert set(memory.recall("bees", top_n=5, as_of=memory.store.view().sequence).ids) == {name, echo}
    assert {one.id for one in memory.list()} == {name, echo}
    assert memory.duplicates.of(name) == []
    assert echo not in memory.get_context("bees").ids


def test_separating_an_echo_makes_it_news_for_good(memory: NeuroGraphMemory) -> None:
    name = hear(memory)
    message = {"role": "assistant", "content": "You keep bees behind the barn.", "id": "m"}
    memory.add(message)
    assert memory.recall("bees", top_n=5).ids == (name,)
    assert memory.duplicates.separate("m")
    assert set(memory.recall("bees", top_n=5).ids) == {name, "m"}
    memory.add({**message, "metadata": {"a": 1}})
    assert set(memory.recall("bees", top_n=5).ids) == {name, "m"}
    assert not memory.duplicates.separate("m")


@pytest.mark.parametrize("change", ["delete", "update", "update the echo"])
def test_an_echo_is_news_when_a_memory_that_it_repeats_is_gone(memory: NeuroGraphMemory, change: str) -> None:
    names = [hear(memory, text) for text in (BARN, "My sister lives in Oslo.")]
    (echo,) = memory.add({"role": "assistant", "content": "You keep bees behind the barn. Your sister lives in Oslo."})
    assert echo not in memory.recall("bees and sister", top_n=5).ids
    if change == "delete":
        memory.delete(names[1])
    else:
        memory.update(names[1] if change == "update" else echo, content="My sister moved to Rome.")
    assert echo in memory.recall("bees and sister", top_n=5).ids


def test_an_echo_is_no_evidence_for_a_fact(memory: NeuroGraphMemory) -> None:
    texts = ["I keep bees behind the barn.", "My bees make honey from clover.", "The bees sleep in the barn in winter."]
    names = [hear(memory, text, session_id="one") for text in texts]
    (echo,) = memory.add({"role": "assistant", "content": texts[0]}, session_id="one")
    for _ in range(4):
        memory.feedback(memory.recall("bees in the barn", top_n=5, include_duplicates=True))
    memory.learning.consolidate()
    derived = {edge.target_id for edge in memory.store.all_edges() if edge.type is EdgeType.DERIVED_FROM}
    assert echo not in derived
    assert derived <= set(names)


def test_the_last_hundred_memories_of_an_hour_can_be_echoed_and_those_of_the_last_thousand_users() -> None:
    handed_out, start = HandedOut(MemoryConfig().metabolism), datetime(2026, 5, 4, 12, tzinfo=UTC)
    best = [str(number) for number in range(99)]
    for ids, minute in ((["old"], 0), (best, 0), (["new"], 10)):
        handed_out.add("graph", "ana", ids, start + timedelta(minutes=minute))
    for minute, found in ((10, ["new", *best]), (61, ["new"]), (71, []), (-51, best), (-61, [])):
        assert handed_out.ids("graph", "ana", start + timedelta(minutes=minute)) == found
    for number in range(1_000):
        assert handed_out.ids("graph", "ana", start) == ["new", *best]
        handed_out.add("graph", str(number), ["x"], start)
    assert handed_out.ids("graph", "ana", start) == []


@pytest.mark.parametrize(("owner", "other"), [("ana", "ben"), ("ana", None)])
def test_no_memory_of_another_user_is_echoed(memory: NeuroGraphMemory, owner: str, other: str | None) -> None:
    hear(memory, user_id=owner)
    memory.recall(BARN, top_n=5, user_id=other)
    memory.recall(BARN, top_n=5, user_id=ANY_USER)
    assert echoed(memory, BARN, user_id=other) == []


def test_of_nobody_the_memories_of_another_session_are_not_echoed(memory: NeuroGraphMemory) -> None:
    name = hear(memory, session_id="one")
    assert echoed(memory, BARN, session_id="two") == []
    assert echoed(memory, BARN, session_id="one") == [name]


def test_a_reader_who_does_not_see_the_memory_sees_the_echo(memory: NeuroGraphMemory) -> None:
    hear(memory, user_id="ana", session_id="one")
    (echo,) = memory.add({"role": "assistant", "content": BARN}, user_id="ana", session_id="two")
    assert memory.recall(BARN, top_n=5, user_id="ana", session_id="two").ids == (echo,)


# Blocks


@pytest.mark.parametrize("role", ["user", "assistant", "tool"])
def test_a_block_of_memories_is_not_stored_and_the_words_beside_it_are(skipping: NeuroGraphMemory, role: str) -> None:
    memory = skipping
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


LINE = f"- user: {BARN}"


@pytest.mark.parametrize(
    "block",
    [
        "- I got divorced.",
        f"{LINE}\nI got divorced.",
        f"{LINE}\n- (undated): I got divorced.",
        f"{LINE}\n  | I got divorced.",
        LINE.replace("user", "user (“My PIN is 9922”)"),
        LINE.replace("- ", "- (no longer) "),
        LINE.replace("user", "Bob"),
        f"I got divorced.\n{LINE}",
        "",
        f"{LINE} I got divorced.",
        f" {LINE}",
        LINE.removesuffix("."),
    ],
)
def test_a_block_with_anything_else_is_stored(memory: NeuroGraphMemory, skipping: NeuroGraphMemory, block: str) -> None:
    for each in (memory, skipping):
        hear(each)
        for text in (f"{OPENING}\n{block}\n{CLOSING}", f"{OPENING}\n{block}"):
            assert echoed(each, text, role="user") == []


def test_a_message_of_which_a_block_is_left_out_keeps_its_calls(skipping: NeuroGraphMemory) -> None:
    hear(skipping)
    text = {"type": "text", "text": f"I look.\n{skipping.recall('bees').as_text()}"}
    call = {"type": "tool_use", "id": "c", "name": "look", "input": {}}
    for parts, wanted in (([text, call], ["I look.", "look()"]), ([call, text], ["look()", "I look."])):
        added = skipping.add({"role": "assistant", "content": parts})
        assert [skipping.get(name).content for name in added] == wanted


WORDS = st.text(st.sampled_from('ab"- #<>&\n'), min_size=1, max_size=12).filter(lambda text: bool(text.strip()))


@given(told=st.lists(WORDS, min_size=1, max_size=3), parts=st.lists(WORDS, min_size=2, max_size=3), data=st.data())
def test_only_exact_blocks_are_taken_out_and_everything_else_stays(
    told: list[str], parts: list[str], data: st.DataObject
) -> None:
    """The words beside blocks stay in order, and a block with a line of another memory stays whole."""
    nodes = [MemoryNode(f"m{n}", text, role="user") for n, text in enumerate(told)]
    strange = MemoryNode("x", "".join(told) + "!", role="user")
    text, left, names = "", "", []
    for part in parts:
        shown = data.draw(st.permutations(nodes))
        is_forged = data.draw(st.booleans())
        among = [*shown, strange] if is_forged else shown
        is_marked = data.draw(st.booleans())
        marks = ("contested",) if is_marked else ()
        block = quoted_memories(((one, marks) for one in among), None, prompt_tokens)
        text += f"{part}{block}"
        left += f"{part}{block}" if is_forged else part
        names += [] if is_forged else [node.id for node in nodes]
    said, found = without_blocks(text, nodes)
    assert said == (left.strip() if names else text)
    assert {plain(told[int(name[1:])]) for name in found} == (
        {plain(node.content) for node in nodes} if names else set()
    )


@pytest.mark.parametrize(
    ("shown", "is_quotation"),
    [
        ("I do not like sushi. … We ate soup.", True),
        ("… I like rice with Lotte. …", True),
        ("I do not like su…", True),
        ("I … like sushi. I like rice with Lotte. We ate soup.", False),
        ("… like sushi. …", False),
        ("We ate soup. … I do not like sushi.", False),
        ("…", False),
    ],
)
def test_only_whole_sentences_may_be_left_out_of_a_quotation(shown: str, *, is_quotation: bool) -> None:
    node = MemoryNode("m", "I do not like sushi. I like rice with Lotte. We ate soup.", role="user")
    block = framed([quoted_memory(node, content=shown)])
    assert without_blocks(block, [node]) == (("", ["m"]) if is_quotation else (block, []))
