"""What `undo` takes back: the last thing that was done, for all or for one user, and nothing that came by itself."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from neurogated import ANY_USER, EdgeType, MemoryConfig, NeuroGraphMemory, import_memory
from neurogated.core.delta import ChangedMemory, GraphDelta
from neurogated.core.ports import GraphStorePort
from neurogated.core.scope import UserChoice
from neurogated.errors import InputError
from neurogated.plasticity.undo import UndonePart, delta_back_to, latest_of
from neurogated.session import compose
from neurogated.storage.graph_store import GraphStore
from neurogated.testing import ManualClock

IDS = ["first", "second", "third"]

ACTIONS: dict[str, Callable[[NeuroGraphMemory, str | None], object]] = {
    "add": lambda memory, user: memory.add("A swan on the lake.", user_id=user),
    "update": lambda memory, _: memory.update("first", "The heron has left."),
    "delete": lambda memory, _: memory.delete("second"),
    "feedback": lambda memory, user: memory.learning.feedback(IDS, user_id=user),
    "failure": lambda memory, user: memory.learning.feedback(IDS, "fail", user_id=user),
    "associate": lambda memory, user: memory.graph.associate("first", "third", "near", 0.7, user_id=user),
    "decay!": lambda memory, user: memory.execute("(decay! 0.1)", user_id=user),
    "resolve": lambda memory, user: memory.conflicts.resolve(
        memory.conflicts.list(None, user_id=user)[0].id, "both", user_id=user
    ),
    "fact": lambda memory, user: memory.facts.add("Ana", "city", "Oslo", user_id=user),
    "policy": lambda memory, user: memory.policies.signal("tidy", user_id=user),
    "consolidate": lambda memory, user: memory.learning.consolidate(user_id=user),
}


@pytest.fixture
def memory(config: MemoryConfig, clock: ManualClock) -> Iterator[NeuroGraphMemory]:
    config = config.replace(learning={"policies": True})
    with NeuroGraphMemory(config, parts=compose.build(config, clock)) as memory:
        yield memory


@pytest.fixture(autouse=True)
def against_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare each undo of a part with that part of an undo of all changes."""

    def both(
        past: GraphStorePort, present: GraphStorePort, *, reason: str, at: datetime, part: UndonePart | None = None
    ) -> GraphDelta:
        delta = delta_back_to(past, present, reason=reason, at=at, part=part)
        if part is not None:
            whole = delta_back_to(past, present, reason=reason, at=at)
            for one, other in zip(_parts(part.cut(delta, present)), _parts(part.cut(whole, present)), strict=True):
                assert sorted(one, key=str) == sorted(other, key=str)
        return delta

    monkeypatch.setattr("neurogated.plasticity.undo.delta_back_to", both)


def _parts(delta: GraphDelta) -> tuple[Iterable[object], ...]:
    return (
        delta.removed_edges, delta.removed_nodes, delta.nodes, delta.edges, delta.node_changes, delta.weights
    )  # fmt: skip


def _fill(memory: NeuroGraphMemory, clock: ManualClock, user: str | None) -> None:
    for name, text in zip(IDS, ("The heron of the pier.", "A stork on a roof.", "The cranes fly south."), strict=True):
        memory.add(text, id=name, user_id=user)
    for city in ("Lyon", "Oslo"):
        memory.facts.add("Ana", "home", city, user_id=user)
    for attribute in ("pet", "job", "car"):
        memory.facts.add("Bea", attribute, f"a {attribute}", user_id=user)
    memory.policies.add("(decay! 0.2)", "tidy", user_id=user)
    clock.advance(timedelta(hours=5))


def _state(memory: NeuroGraphMemory, user: str | None) -> tuple[object, ...]:
    """Return the memories of a user and their edges, without uses."""
    nodes = {
        one.id: (one.content, one.base_energy, one.energy_at, one.importance, one.valid_to, one.metadata)
        for one in memory.store.all_nodes()
        if one.scope.user_id == user
    }
    edges = {one.key: one.weight for one in memory.store.all_edges() if {*one.key[:2]} <= nodes.keys()}
    return nodes, edges


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("user", ["ana", None], ids=["of several", "of one"])
def test_the_last_thing_that_was_done_is_taken_back_and_not_an_older_one(
    memory: NeuroGraphMemory, clock: ManualClock, user: str | None, action: str
) -> None:
    _fill(memory, clock, user)
    before = _state(memory, user)
    ACTIONS[action](memory, user)
    after = _state(memory, user)
    if user is not None:
        memory.feedback(memory.add(["Bob has a heron.", "Bob has a stork."], user_id="bob"))
        memory.add("A heron of everybody.")
    clock.advance(timedelta(hours=1))
    memory.recall("heron", user_id=user)
    memory.energy.tick()
    theirs = _state(memory, "bob"), _state(memory, None)
    assert memory.undo(user_id=user) is not None
    assert _state(memory, user) == before != after
    assert user is None or theirs == (_state(memory, "bob"), _state(memory, None))
    assert memory.admin.check() == []


def _add_one_by_one(memory: NeuroGraphMemory, user: str | None) -> list[tuple[object, ...]]:
    states = [_state(memory, user)]
    for name, text in zip(IDS, ("The heron of the pier.", "A stork on a roof.", "The cranes fly south."), strict=True):
        memory.add(text, id=name, user_id=user)
        states.append(_state(memory, user))
    return states


@pytest.mark.parametrize("user", ["ana", None])
def test_each_undo_takes_back_the_thing_before(memory: NeuroGraphMemory, user: str | None) -> None:
    states = _add_one_by_one(memory, user)
    if user is not None:
        memory.add("Bob has a heron.", user_id="bob")
    number = memory.history.list()[-1].sequence
    for state in reversed(states[:-1]):
        assert memory.undo(user_id=user) is not None
        assert _state(memory, user) == state
    assert memory.undo(user_id=user) is None
    memory.undo(number)
    assert _state(memory, user) == states[-1]
    memory.undo(user_id=ANY_USER)
    assert _state(memory, user) == states[0]


def test_an_undo_for_all_does_not_bring_back_what_a_user_has_taken_back_since(memory: NeuroGraphMemory) -> None:
    memory.add("The heron of the pier.", id="first", user_id="ana")
    memory.add("Bob has a heron.", id="heron", user_id="bob")
    before = _state(memory, "bob")
    memory.learning.feedback(["first", "heron"], "fail")
    memory.learning.feedback(["first", "heron"])
    assert _state(memory, "bob") != before
    for _ in range(3):
        memory.undo(user_id="ana")
    assert not memory.store.has_node("first")
    memory.undo(user_id=ANY_USER)
    memory.undo(user_id=ANY_USER)
    assert not memory.store.has_node("first")
    assert _state(memory, "bob") == before
    assert memory.admin.check() == []


def test_a_copy_of_a_memory_knows_what_was_undone(tmp_path: Path, config: MemoryConfig) -> None:
    config = config.replace(save_dir=str(tmp_path / "one"))
    with NeuroGraphMemory(config) as memory:
        states = _add_one_by_one(memory, "ana")
        memory.recall("heron", user_id="ana")
        memory.learning.flush()
        memory.undo(user_id="ana")
        memory.admin.export(tmp_path / "copy", progress=False)
    import_memory(config.replace(save_dir=str(tmp_path / "two")), tmp_path / "copy", progress=False)
    with NeuroGraphMemory(config.replace(save_dir=str(tmp_path / "two"))) as copy:
        copy.undo(user_id="ana")
        assert [node.id for node in copy.find(user_id="ana")] == IDS[:1] == list(states[1][0])  # type: ignore[call-overload]


@pytest.mark.parametrize("user", ["ana", ANY_USER])
def test_the_last_thing_is_undone_without_reading_the_whole_memory(
    memory: NeuroGraphMemory, monkeypatch: pytest.MonkeyPatch, user: UserChoice
) -> None:
    def read(_: GraphStore) -> None:
        raise AssertionError("all was read")

    _add_one_by_one(memory, "ana")
    monkeypatch.setattr("neurogated.plasticity.undo.delta_back_to", delta_back_to)
    for name in ("all_nodes", "all_edges"):
        monkeypatch.setattr(GraphStore, name, read)
    memory.delete("second")
    assert memory.undo(user_id=user) is not None
    assert memory.store.has_node("second")
    assert memory.undo(user_id=user) is not None
    assert not memory.store.has_node("third")


@pytest.mark.parametrize("user", ["ana", None])
def test_a_memory_is_taken_back_with_what_policies_did_because_it_was_added(
    memory: NeuroGraphMemory, user: str | None
) -> None:
    memory.add("The harbour.", id="anchor", user_id=user)
    memory.policies.add('(feedback "anchor" "success")', user_id=user)
    memory.policies.add('(remember "Somebody saw a ferry.")', user_id=user)
    before = _state(memory, user)
    memory.add("A ferry.", id="ferry", user_id=user)
    assert len(memory.find(user_id=user)) == 5
    if user is not None:
        memory.add("A tram.", user_id="bob")
    memory.undo(user_id=user)
    assert _state(memory, user) == before
    memory.undo(user_id=user)
    assert len(memory.find(user_id=user)) == 2


@pytest.mark.parametrize("user", ["ana", None])
def test_what_came_with_time_stays(memory: NeuroGraphMemory, clock: ManualClock, user: str | None) -> None:
    _fill(memory, clock, user)
    memory.add("A tram at noon.", id="short", user_id=user, ttl=timedelta(hours=9))
    memory.graph.associate("first", "short", "near", 0.5, user_id=user)
    memory.learning.feedback(IDS, user_id=user)
    memory.add("A swan on the lake.", id="last", user_id=user)
    clock.advance(timedelta(days=9))
    memory.maintenance()
    weights = {one.key: one.weight for one in memory.store.all_edges() if one.type is EdgeType.ASSOC}
    memory.undo(user_id=user)
    assert memory.find(only_ids=["last", "short"], user_id=user) == []
    assert {one.key: one.weight for one in memory.store.all_edges() if one.type is EdgeType.ASSOC} == weights
    assert memory.admin.check() == []


def test_what_also_changed_shared_memories_is_not_taken_back_for_one_user(memory: NeuroGraphMemory) -> None:
    memory.add("The pump is in the shed.", id="shared", importance=0.5)
    memory.add("Ana likes herons.", user_id="ana")
    memory.record_event("I oiled the pump.", outcome="fail", used=["shared"], user_id="ana")
    before = _state(memory, "ana"), _state(memory, None)
    with pytest.raises(InputError, match="ana"):
        memory.undo(user_id="ana")
    assert (_state(memory, "ana"), _state(memory, None)) == before
    memory.undo(user_id=ANY_USER)
    assert memory.count(user_id="ana") == 2


def test_an_erased_deletion_is_told_and_nothing_older_is_taken_back(memory: NeuroGraphMemory) -> None:
    memory.add("I keep bees.")
    (hens,) = memory.add("I keep hens.")
    memory.delete(hens)
    memory.admin.compact()
    for _ in range(2):
        with pytest.raises(InputError, match="compact"):
            memory.undo()
    assert memory.count() == 1
    memory.add("I keep ducks.")
    memory.undo()
    assert memory.count() == 1


def test_what_a_compaction_erased_of_others_blocks_an_undo_only_if_it_may_be_the_users_own(
    memory: NeuroGraphMemory,
) -> None:
    memory.add("I keep bees.", id="bees", user_id="ana")
    memory.add("I keep hens.", user_id="ben")
    memory.delete(user_id="ben")
    memory.admin.compact()
    assert memory.undo(user_id="ana") is not None
    assert memory.count(user_id="ana") == 0
    memory.add("I keep bees.", id="bees", user_id="ana")
    memory.delete(memory.add("I keep hens.", user_id="ben"))
    memory.admin.compact()
    with pytest.raises(InputError, match="compact"):
        memory.undo(user_id="ana")
    assert memory.count(user_id="ana") == 1


def test_the_latest_changes_have_their_memories(memory: NeuroGraphMemory) -> None:
    (first,) = memory.add("I keep bees.", user_id="ana")
    (shared,) = memory.add("The office is in Oslo.")
    memory.delete(first)
    deleted, added, shown = (
        ChangedMemory(first, "deleted", "I keep bees."),
        ChangedMemory(shared, "written", "The office is in Oslo."),
        ChangedMemory(first, "written", "I keep bees."),
    )
    for user, wanted in ((ANY_USER, [(deleted,), (added,), (shown,)]), (None, [(), (added,), ()])):
        assert [entry.memories for entry in latest_of(memory.store, user)] == wanted
    assert [entry.memories for entry in latest_of(memory.store, "ana")] == [(deleted,), (shown,)]
    assert [entry.sequence for entry in latest_of(memory.store, ANY_USER, 3)] == [2, 1]
    assert [entry.memories for entry in memory.history.list()] == [(shown,), (added,), (deleted,)]
    assert [entry.memories for entry in memory.history.list(user_id="ana", last=1)] == [(deleted,)]
    memory.feedback(memory.add(["I keep hens.", "I keep ducks."], user_id="ana"))
    learned = memory.history.list(user_id="ana")[-1]
    assert learned == next(latest_of(memory.store, "ana"))
    assert learned.memories == ()
    made = memory.undo(user_id="ana")
    assert made == memory.history.list(last=1)[0]
    with pytest.raises(InputError, match="last"):
        memory.history.list(last=-1)
