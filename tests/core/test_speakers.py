"""One person is one speaker."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.core.model import MemoryNode
from neurogated.core.scope import Scope
from neurogated.core.turns import same_speaker


def node(role: str | None = "user", speaker: str | None = None, user: str | None = "u", **scope: str) -> MemoryNode:
    return MemoryNode("a", "Hello.", role=role, speaker=speaker, scope=Scope(user, **scope))


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        (node(), node(speaker="Sam"), True),
        (node(role=None), node(speaker="Sam"), True),
        (node(role=None), node(session_id="s"), True),
        (node(agent_id="a"), node(speaker="Sam", agent_id="b"), True),
        (node(speaker="Sam"), node(speaker="Sam Vries"), True),
        (node(speaker="SAM"), node(speaker="sam vries", session_id="s"), True),
        (node("assistant"), node("assistant", "Robo"), True),
        (node(speaker="Ann", user=None, session_id="s"), node(speaker="Ann", user=None, session_id="t"), True),
        (node(), node("assistant"), False),
        (node("tool"), node(), False),
        (node("system"), node(role=None), False),
        (node(speaker="Sam"), node(speaker="Ann"), False),
        (node(speaker="Sam"), node(speaker="Samantha"), False),
        (node(speaker="Sam Vries"), node(speaker="Sam Berg"), False),
        (node(speaker="Sam"), node("assistant", "Sam"), False),
        (node(speaker="Sam"), node(speaker="Sam", user="v"), False),
        (node(user=None, session_id="s"), node(user=None, session_id="t"), False),
    ],
)
def test_one_person_is_one_speaker_and_others_are_others(one: MemoryNode, other: MemoryNode, *, is_one: bool) -> None:
    # That the order makes no difference is a property below.
    assert same_speaker(one, other) is is_one


speakers = st.sampled_from([None, "Sam", "Sam Vries", "Ann", "李", "!"])
nodes = st.builds(node, st.sampled_from([None, "user", "assistant"]), speakers, st.sampled_from([None, "u"]))


@given(nodes, nodes, st.sets(speakers.filter(bool)))
def test_it_is_symmetric_and_everybody_is_the_same_as_oneself(
    one: MemoryNode, other: MemoryNode, names: set[str]
) -> None:
    assert same_speaker(one, other, names) == same_speaker(other, one, names)
    assert same_speaker(one, one, names)
