"""One person is one speaker."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.core.model import MemoryNode
from neurogated.core.scope import Scope
from neurogated.core.speakers import same_speaker


def node(role: str | None = "user", speaker: str | None = None, user: str | None = "u", **scope: str) -> MemoryNode:
    return MemoryNode("a", "Hello.", role=role, speaker=speaker, scope=Scope(user, **scope))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (node(), node(speaker="Sam")),
        (node(role=None), node(speaker="Sam")),
        (node(role=None), node(session_id="s")),
        (node(agent_id="a"), node(speaker="Sam", agent_id="b")),
        (node(speaker="Sam"), node(speaker="Sam Vries")),
        (node(speaker="SAM"), node(speaker="sam vries", session_id="s")),
        (node("assistant"), node("assistant", "Robo")),
        (node(speaker="Ann", user=None, session_id="s"), node(speaker="Ann", user=None, session_id="t")),
    ],
)
def test_one_person_is_one_speaker(one: MemoryNode, other: MemoryNode) -> None:
    assert same_speaker(one, other)
    assert same_speaker(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (node(), node("assistant")),
        (node("tool"), node()),
        (node("system"), node(role=None)),
        (node(speaker="Sam"), node(speaker="Ann")),
        (node(speaker="Sam"), node(speaker="Samantha")),
        (node(speaker="Sam Vries"), node(speaker="Sam Berg")),
        (node(speaker="Sam"), node("assistant", "Sam")),
        (node(speaker="Sam"), node(speaker="Sam", user="v")),
        (node(user=None, session_id="s"), node(user=None, session_id="t")),
    ],
)
def test_others_are_others(one: MemoryNode, other: MemoryNode) -> None:
    assert not same_speaker(one, other)
    assert not same_speaker(other, one)


speakers = st.sampled_from([None, "Sam", "Sam Vries", "Ann", "李", "!"])
nodes = st.builds(node, st.sampled_from([None, "user", "assistant"]), speakers, st.sampled_from([None, "u"]))


@given(nodes, nodes, st.sets(speakers.filter(bool)))
def test_it_is_symmetric_and_everybody_is_the_same_as_oneself(
    one: MemoryNode, other: MemoryNode, names: set[str]
) -> None:
    assert same_speaker(one, other, names) == same_speaker(other, one, names)
    assert same_speaker(one, one, names)
