"""One memory, several users: what each sees, her own history and undo, and the walls between users."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_store_kit.reads import keyword_search
from neurogated import (
    ANY_USER,
    EdgeType,
    Filter,
    GraphDelta,
    MemoryConfig,
    MemoryNode,
    NeuroGraphMemory,
    Recall,
    Scope,
    ScopeFilter,
    field,
)
from neurogated.core.habits import _parameters
from neurogated.errors import InputError
from neurogated.ingestion.document import Document, Passage
from neurogated.plasticity.plasticity_engine import Outcome
from neurogated.retrieval.ranking import NOTHING_FOUND
from neurogated.session.session import Component
from tests.repeating import Repeating

ANA = [
    "Ana moved to Lyon in March because of her work at the museum.",
    "The museum of Lyon restores clocks, and Ana repairs their springs.",
    "Ana's sister Vera lives in Turin and visits the museum in June.",
    "A spring of the tower clock broke, so the tower clock stood still for a week.",
]
BOB = [
    "Bob moved to Lyon in May and repairs the tower clock of the museum.",
    "Vera of Turin sold the museum a clock with a broken spring.",
    "Bob's work at the museum of Lyon ends in June, since the clocks are repaired.",
    "The tower clock stood still because Bob broke a spring of it.",
    "Lyon has a museum of clocks, a tower clock and a museum of springs.",
]
EVERYBODY = ["The museum of Lyon opens at nine.", "Turin has a tower clock, too."]
QUESTIONS = ["Who moved to Lyon?", "Why did the tower clock stand still?", "museum spring Vera", "Who lives in Turin?"]


@pytest.fixture(params=["memory", "sqlite"])
def storage(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _tell(memory: NeuroGraphMemory, user: str | None, texts: list[str]) -> list[str]:
    return [memory.add_document(text, title="Clocks", user_id=user)[0] for text in texts]


def _seen(recall: Recall) -> list[tuple[str, float, dict[str, float]]]:
    return [(one.id, one.score, dict(one.parts)) for one in recall]


def _edges(memory: NeuroGraphMemory) -> dict[tuple[str, str, str], float]:
    edges = (edge for edge in memory.store.all_edges() if edge.type is not EdgeType.DERIVED_FROM)
    return {(edge.source_id, edge.target_id, edge.type.value): edge.weight for edge in edges}


def test_no_edge_joins_memories_of_two_owners(config: MemoryConfig) -> None:
    settings = config.replace(metabolism={"temporal_neighbors": 3})
    with NeuroGraphMemory(settings) as memory:
        for user in (None, "ana", "bob", "ana", None):
            memory.add(f"The barn of {user} burned in {memory.count(user_id=ANY_USER)}.", user_id=user)
        owners = {node.id: node.scope.user_id for node in memory.find(user_id=ANY_USER)}
        edges = list(memory.store.all_edges())
    assert {edge.type for edge in edges} >= {EdgeType.SIM, EdgeType.ASSOC}
    assert all(owners[edge.source_id] == owners[edge.target_id] for edge in edges)


def test_each_user_sees_her_own_memories_and_those_of_nobody(memory: NeuroGraphMemory) -> None:
    ana, bob, shared = (_tell(memory, *one) for one in (("ana", ANA), ("bob", BOB), (None, EVERYBODY)))
    for question in QUESTIONS:
        assert set(memory.recall(question, user_id="ana", top_n=20).ids) == {*ana, *shared}
        assert set(memory.recall(question, user_id="bob", top_n=20).ids) == {*bob, *shared}
        assert set(memory.recall(question, top_n=20).ids) == set(shared)
        assert set(memory.recall(question, user_id="somebody else", top_n=20).ids) == set(shared)
        assert set(memory.recall(question, user_id=ANY_USER, top_n=20).ids) == {*ana, *bob, *shared}
    for path in (step for one in memory.recall(QUESTIONS[1], user_id="ana") for step in one.path):
        assert path.source_id in {*ana, *shared}


def test_no_text_of_another_user_changes_a_users_recall(memory: NeuroGraphMemory) -> None:
    memory.learning.freeze()
    ana = _tell(memory, "ana", ANA)
    before = [_seen(memory.recall(question, user_id="ana", top_n=20)) for question in QUESTIONS]
    edges = _edges(memory)
    _tell(memory, "bob", BOB)
    _tell(memory, "carl", [*ANA, *BOB])
    after = [_seen(memory.recall(question, user_id="ana", top_n=20)) for question in QUESTIONS]
    assert after == before
    assert {key: weight for key, weight in _edges(memory).items() if key[0] in ana} == edges
    # A text that is deleted or changed does not either.
    gone = memory.find(user_id="bob")
    memory.delete([node.id for node in gone if node.scope.user_id == "bob"][:2])
    memory.update(
        next(node.id for node in gone if node.scope.user_id == "bob" and memory.store.has_node(node.id)), "Ana."
    )
    assert [_seen(memory.recall(question, user_id="ana", top_n=20)) for question in QUESTIONS] == before


def test_feedback_on_memories_of_a_user_and_of_nobody_joins_each_with_its_own(memory: NeuroGraphMemory) -> None:
    ana, shared = _tell(memory, "ana", ANA[:2]), _tell(memory, None, EVERYBODY)
    feedback = memory.feedback(memory.recall("museum", user_id="ana", top_n=9))
    made = {frozenset((e.source_id, e.target_id)) for e in memory.store.all_edges() if e.type is EdgeType.ASSOC}
    assert made == {frozenset(ana), frozenset(shared)}
    assert feedback == 2


@pytest.mark.parametrize("outcome", ["success", "fail"])
def test_the_feedback_of_a_user_teaches_nothing_of_memories_of_others_and_of_nobody(
    memory: NeuroGraphMemory, outcome: Outcome
) -> None:
    ana = _tell(memory, "ana", ANA[:2])
    theirs = [*_tell(memory, "bob", BOB[:2]), *_tell(memory, None, EVERYBODY)]
    memory.feedback(theirs)

    def state() -> tuple[object, ...]:
        edges = [one for one in memory.store.all_edges() if one.source_id in theirs and one.type is EdgeType.ASSOC]
        return [memory.get(one).base_energy for one in theirs], sorted((one.key, one.weight) for one in edges)

    before = state()
    assert len(before[1]) == 2  # type: ignore[arg-type]
    assert memory.learning.feedback([*ana, *theirs], outcome, user_id="ana") == int(outcome == "success")
    assert state() == before


def test_sessions_agents_paths_kinds_tags_and_conditions_narrow_a_recall(memory: NeuroGraphMemory) -> None:
    def add(text: str, **about: object) -> str:
        return memory.add_document(f"The clock {text}.", user_id="ana", **about)[0]  # type: ignore[arg-type]

    monday = add("is on time", session_id="monday", agent_id="robot", tags=["red", "big"], metadata={"year": 2020})
    tuesday = add("is late", session_id="tuesday", path=("work", "notes"), kind="fact", metadata={"year": 2026})
    always = add("is round", tags=["red"], path=("work",), importance=0.9, metadata={"year": "2026"})
    asked: list[tuple[dict[str, object], set[str]]] = [
        ({}, {monday, tuesday, always}),
        ({"session_id": "monday"}, {monday, always}),
        ({"agent_id": "robot"}, {monday, tuesday, always}),
        ({"agent_id": "other"}, {tuesday, always}),
        ({"path": ("work",)}, {tuesday, always}),
        ({"path": ["work", "notes"]}, {tuesday}),
        ({"kinds": ["fact"]}, {tuesday}),
        ({"tags": ["red"]}, {monday, always}),
        ({"tags": ["red", "big"]}, {monday}),
        ({"where": field("year") >= 2021}, {tuesday}),
        ({"where": (field("year") == "2026") | (field("year") == 2020)}, {monday, always}),
        ({"tags": ["red"], "where": ~(field("year") < 2021)}, {always}),
        ({"session_id": "monday", "kinds": ["fact"]}, set()),
    ]
    for options, expected in asked:
        assert set(memory.recall("clock", user_id="ana", **options).ids) == expected  # type: ignore[arg-type]
        # A list of a session has this session only.
        of_session = expected - {always} if "session_id" in options else expected
        assert {node.id for node in memory.find(user_id="ana", **options)} == of_session  # type: ignore[arg-type]
    assert [node.id for node in memory.find(user_id="ana", order_by="-importance", limit=1)] == [always]


def test_a_search_that_hides_a_memory_counts_its_words_with_and_without_other_users(memory: NeuroGraphMemory) -> None:
    store = memory.store
    memory.add_document("The clock of the tower is late.")
    (gone,) = memory.add_document("A spring of a clock.")
    store.apply(GraphDelta(nodes=(replace(store.get_node(gone), expires_at=store.get_node(gone).created_at),)))
    nobody = Filter(scope=ScopeFilter())
    before = keyword_search(store, "clock", 5, store.view(filters=nobody))
    store.apply(GraphDelta(nodes=(MemoryNode("bob", "clock clock", scope=Scope("bob")),)))
    assert keyword_search(store, "clock", 5, store.view(filters=nobody)) == before
    assert len(before) == 1


def test_the_same_text_of_two_users_is_two_memories_and_of_one_user_one(memory: NeuroGraphMemory) -> None:
    ids = {user: memory.add_document("The office opens at nine.", user_id=user) for user in ("ana", "bob", None)}
    assert len({one for (one,) in ids.values()}) == 3
    assert memory.add_document("The office opens at nine.", user_id="ana") == ids["ana"]
    assert memory.add_document("The office opens at nine.", user_id="ana", session_id="monday") != ids["ana"]
    assert memory.count(user_id=ANY_USER) == 4


def test_a_document_of_nobody_cannot_have_the_id_of_a_users_document() -> None:
    owner = repr(("ana", None, None, ()))
    forged = Document((Passage("My secret is blue."), Passage(owner)))
    assert forged.document_id != Document((Passage("My secret is blue."),), scope=Scope("ana")).document_id


def test_a_recall_without_memories_tells_how_those_of_a_user_are_found() -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        memory.add("Ana repairs springs.", user_id="ana")
        for user in (None, "Ana", "bob"):
            for found in (memory.recall("springs", user_id=user), memory.get_context("springs", user_id=user)):
                assert found.notes == (NOTHING_FOUND,)
        assert "found only with user_id and exactly that name" in NOTHING_FOUND
        assert memory.recall("springs", user_id="ana").notes == memory.recall("springs", user_id=ANY_USER).notes == ()


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
