"""What concerns one user: her history, her undo, calls that must name her, and lists of one session."""

import inspect
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import ANY_USER, EdgeType, MemoryConfig, NeuroGraphMemory
from neurogated.core.habits import _parameters
from neurogated.errors import InputError
from neurogated.session.session import Component
from tests.repeating import Repeating


def _texts(memory: NeuroGraphMemory, user_id: str) -> list[str]:
    return sorted(node.content for node in memory.list(user_id=user_id))


def test_the_history_of_a_user_has_the_texts_of_her_memories_and_of_nobody_else(memory: NeuroGraphMemory) -> None:
    (name,) = memory.add("Ana's first words.", user_id="ana")
    memory.add("Bob's words.", user_id="bob")
    memory.add("Everybody's words.")
    memory.update(name, "Ana's second words.")
    memory.delete(name)
    versions = memory.history.of_user("ana")
    assert [one.node and one.node.content for one in versions] == ["Ana's first words.", "Ana's second words.", None]


def test_an_undo_of_a_late_turn_joins_its_neighbours_again(memory: NeuroGraphMemory) -> None:
    for text, day in (("First.", 1), ("Third.", 3), ("Second.", 2)):
        turn = {"role": "user", "content": text, "timestamp": f"2026-05-0{day}T09:00:00Z"}
        memory.add(turn, user_id="ana", session_id="s")
    memory.undo(user_id="ana")
    first, third = memory.find(user_id="ana", order_by="position")
    assert memory.store.get_edge(first.id, third.id, EdgeType.SEQ).weight > 0
    assert memory.admin.check() == []


@given(st.lists(st.tuples(st.sampled_from(["ana", "bob"]), st.sampled_from("abcd")), min_size=1, max_size=6))
def test_undos_of_a_user_take_back_one_turn_after_another_and_never_touch_the_other(
    said: list[tuple[str, str]],
) -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        for user, letter in said:
            memory.add({"role": "user", "content": f"The {letter} heron."}, user_id=user, session_id="s")
        hers, theirs = _texts(memory, "ana"), _texts(memory, "bob")
        for left in reversed(range(len(hers))):
            assert memory.undo(user_id="ana") is not None
            assert len(_texts(memory, "ana")) == left
        assert memory.undo(user_id="ana") is None
        assert _texts(memory, "bob") == theirs


NEEDED: dict[str, dict[str, Any]] = {
    "admin.export_to": {"target": "pam", "file": Path("ana.json")},
    "admin.export_user": {"file": Path("ana.jsonl")},
    "admin.import_from": {"source": "pam", "file": Path(__file__)},
    "admin.sync": {"folder": Path(__file__).parent},
    "admin.watch": {"folder": Path(__file__).parent},
    "conflicts.resolve": {"conflict_id": "conflict-1", "keep": "both"},
    "energy.tiers_course": {"steps": 1, "step": timedelta(hours=1)},
    "execute": {"expression": '(recall "heron")'},
    "learning.feedback": {"relevant": ["heron", "stork"]},
    "policies.add": {"expression": "(decay! 0.1)", "when": "tidy"},
}
"""What a call needs beside the user, where that is more than words."""


def _of_users(memory: NeuroGraphMemory) -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield all calls that take a user, each with what else it needs."""
    parts = {f"{name}.": one for name, one in vars(memory).items() if isinstance(one, Component) and name[0] != "_"}
    for part, of in {"": memory, **parts}.items():
        for name, method in vars(type(of)).items():
            if inspect.isfunction(method) and name[0] != "_":
                parameters, names = _parameters(method)
                words = [one.name for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
                if "user_id" in names or "scope" in [one.name for one in parameters]:
                    needed = NEEDED.get(part + name) or {one: "heron" for one in words if one != "user_id"}
                    yield part + name, partial(getattr(of, name), **needed)


@pytest.mark.parametrize("wrong", [7, True, ["ana"], b"ana", ""])
def test_every_call_refuses_what_is_no_name_of_a_user(wrong: object) -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash").replace(learning={"policies": True})
    with NeuroGraphMemory(config, llm=Repeating("x")) as memory:
        for name in ("heron", "stork"):
            memory.add(f"A {name}.", id=name, user_id="ana")
        calls = dict(_of_users(memory))
        assert {"recall", "answer", "history.list", "history.of_user", "learning.feedback"} < calls.keys()
        for call in calls.values():
            with pytest.raises(InputError, match="user_id"):
                call(user_id=wrong)


_FREE = {"conflicts.resolve", "energy.focus", "learning.feedback", "policies.run", "admin.import_from"}
"""Calls without a user where one is required: they name memories, or read the owners from a file."""


def test_a_memory_that_requires_a_user_refuses_every_call_without_one() -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash", require_user=True)
    with NeuroGraphMemory(config.replace(learning={"policies": True}), llm=Repeating("x")) as memory:
        memory.add("A heron.", id="heron", user_id="ana")
        calls = dict(_of_users(memory)) | {"add_documents": partial(memory.add_documents, ["A heron."])}
        assert calls.keys() > _FREE
        for name in calls.keys() - _FREE:
            with pytest.raises((InputError, TypeError), match="user"):
                calls[name]()
        assert memory.count(user_id=ANY_USER) == 1
        assert memory.retrieve("heron", user_id="ana") == ["A heron."]
