"""Memories of one owner that say the same form a group with one front."""

from __future__ import annotations

from datetime import UTC, datetime

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated import EdgeType, MemoryConfig, NeuroGraphMemory
from neurogated.errors import UnknownIdError
from tests.golden import rows

QUESTION = "Where do I live?"
MAY = datetime(2024, 5, 1, tzinfo=UTC)


def links(memory: NeuroGraphMemory) -> dict[str, str]:
    """Return the front of each memory that stands behind one."""
    edges = (edge for edge in memory.store.all_edges() if edge.type is EdgeType.SAME_AS and edge.weight)
    return {edge.source_id: edge.target_id for edge in edges}


def recalled(memory: NeuroGraphMemory, **options: object) -> dict[str, tuple[str, ...]]:
    recall = memory.recall(QUESTION, top_n=9, user_id="ana", **options)  # type: ignore[arg-type]
    return {one.id: one.same_as for one in recall}


def said(memory: NeuroGraphMemory, text: str, **about: object) -> str:
    return memory.add(text, **{"user_id": "ana", **about})[0]  # type: ignore[arg-type]


def test_a_recall_shows_the_first_of_a_group_and_names_the_others(memory: NeuroGraphMemory) -> None:
    first = said(memory, "I live in Leeds.")
    later = said(memory, "I live in Leeds.", session_id="s")
    other = said(memory, "I live in York.")
    assert links(memory) == {later: first}
    assert recalled(memory) == {first: (later,), other: ()}
    assert recalled(memory, include_duplicates=True) == {first: (later,), later: (first,), other: ()}
    assert recalled(memory, as_of=1).keys() == {first}
    assert memory.duplicates.of(later) == [first]
    assert {node.id for node in memory.list(user_id="ana")} >= {first, later}


@pytest.mark.parametrize(("one", "other"), rows(__file__, "different"))
def test_a_sign_a_zero_or_a_capital_letter_can_change_what_is_said(
    memory: NeuroGraphMemory, one: str, other: str
) -> None:
    ids = {said(memory, one), said(memory, other)}
    assert links(memory) == {}
    assert ids <= {found.id for found in memory.recall(one, top_n=9, user_id="ana")}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I live in Leeds.", "  I live  in Leeds. "),
        ("The café is open.", "the cafe\u0301 is open."),
        ("i live in Leeds.", "I live in Leeds."),
        ("A list:\n- one ", "A list:\n- one"),
    ],
)
def test_texts_that_differ_only_in_blanks_form_and_case_are_equal(
    memory: NeuroGraphMemory, one: str, other: str
) -> None:
    first, second = said(memory, one, session_id="s"), said(memory, other, session_id="s")
    assert links(memory) == {second: first}


@pytest.mark.parametrize(
    "about",
    [
        {"user_id": "tom"},
        {"user_id": None},
        {"agent_id": "cook"},
        {"title": "Diary of Tom"},
        {"valid_from": MAY},
        {"kind": "policy"},
    ],
)
def test_memories_of_two_owners_or_about_two_things_stay_apart(
    memory: NeuroGraphMemory, about: dict[str, object]
) -> None:
    said(memory, "I live in Leeds.")
    said(memory, "I live in Leeds.", **{"session_id": "s" if "title" not in about else None, **about})
    assert links(memory) == {}


def test_separated_memories_stay_separate(memory: NeuroGraphMemory) -> None:
    first, second, third = (said(memory, "I live in Leeds.", session_id=str(n)) for n in range(3))
    before = memory.history.list()[-1].sequence
    assert memory.duplicates.separate(first)
    assert memory.history.list()[-1].sequence == before + 1
    assert not memory.duplicates.separate(first)
    assert links(memory) == {third: second}
    assert memory.duplicates.link() == 0
    fourth = said(memory, "I live in Leeds.", session_id="4")
    assert len(links(memory)) == 2
    shown = recalled(memory)
    assert sorted(len(others) for others in shown.values()) == [0, 2] or shown[first] == (fourth,)
    memory.undo(to=before)
    assert links(memory) == {second: first, third: first}
    with pytest.raises(UnknownIdError):
        memory.duplicates.separate("nobody")


@pytest.mark.parametrize("call", ["link", "consolidate"])
def test_equal_texts_from_before_the_setting_are_linked_later(config: MemoryConfig, call: str) -> None:
    with NeuroGraphMemory(config.replace(metabolism={"find_duplicates": False})) as memory:
        first, later = (said(memory, "I live in Leeds.", session_id=str(n)) for n in range(2))
        assert links(memory) == {}
    with NeuroGraphMemory(config) as memory:
        if call == "link":
            assert memory.duplicates.link() == 1
        else:
            memory.learning.consolidate()
        assert links(memory) == {later: first}


def test_a_group_survives_the_deletion_and_the_change_of_its_front(memory: NeuroGraphMemory) -> None:
    front, *others = (said(memory, "I live in Leeds.", session_id=str(n)) for n in range(4))
    assert set(links(memory).values()) == {front}
    memory.delete(front)
    assert set(links(memory).values()) == {others[0]}
    memory.update(others[0], "I live in York.")
    assert links(memory) == {others[2]: others[1]}
    memory.update(others[0], "I live in  Leeds.")
    assert len(links(memory)) == 2


TEXTS = ["I live in Leeds.", "I live  in Leeds.", "i live in Leeds.", "I live in York.", "I do live in York."]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "delete", "separate", "update", "sweep"]), st.integers(0, 9), st.sampled_from(TEXTS)
    ),
    max_size=12,
)


@given(STEPS)
def test_groups_are_stars_of_equal_statements_after_any_changes(steps: list[tuple[str, int, str]]) -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash")
    with NeuroGraphMemory(config) as memory:
        ids: list[str] = []
        separated: set[str] = set()
        for step, place, text in steps:
            if step == "add" or not ids:
                ids.append(said(memory, text, session_id=str(len(ids))))
            elif step == "sweep":
                memory.duplicates.link()
            else:
                chosen = ids[place % len(ids)]
                if step == "delete":
                    ids.remove(memory.get(chosen).id)
                    memory.delete(chosen)
                elif step == "separate" and memory.duplicates.separate(chosen):
                    separated.add(chosen)
                elif step == "update":
                    memory.update(chosen, text)
            behind = links(memory)
            assert not set(behind) & set(behind.values())
            assert {*behind, *behind.values()} <= set(ids)
            for one, other in behind.items():
                assert memory.get(one).content.lower().split() == memory.get(other).content.lower().split()
            shown = memory.recall(QUESTION, top_n=99, user_id="ana").ids if ids else ()
            assert set(shown) == set(ids) - set(behind)
