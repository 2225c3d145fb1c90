"""Policies: expressions that run after an event, within the scope of their owner."""

from collections.abc import Iterator
from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.components import policies
from neurogated.core.edge_type import EdgeType
from neurogated.errors import ExpressionError, InputError, UnknownIdError
from neurogated.sexpr.check import LONGEST

ALLOWED = {"learning": {"policies": True}}


@pytest.fixture
def allowed(config: MemoryConfig) -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(config.replace(**ALLOWED)) as memory:
        memory.add("The harbour.", id="anchor", user_id="ana")
        yield memory


def _reasons(memory: NeuroGraphMemory, policy: str) -> list[str]:
    return [one.reason for one in memory.history.list() if one.reason.startswith(policy)]


def _associated(memory: NeuroGraphMemory) -> list[str]:
    return [one.source_id for one in memory.store.all_edges() if one.type is EdgeType.ASSOC]


def test_a_policy_runs_after_remember_if_its_condition_holds(allowed: NeuroGraphMemory) -> None:
    policy = allowed.policies.add('(when (= "topic" "sea") (associate it "anchor" "about" 0.5))', user_id="ana")
    allowed.add("A tram.", id="tram", user_id="ana", metadata={"topic": "town"})
    allowed.add("A ferry.", id="ferry", user_id="ana", metadata={"topic": "sea"})
    assert _associated(allowed) == ["ferry"]
    assert len(_reasons(allowed, policy)) == 1
    allowed.undo(user_id="ana")
    assert not allowed.store.has_node("ferry")
    assert _associated(allowed) == []
    assert allowed.get("tram").content == "A tram."


def test_a_policy_never_touches_another_users_memories(allowed: NeuroGraphMemory) -> None:
    policy = allowed.policies.add('(feedback it "fail")', user_id="ana")
    stolen = allowed.policies.add('(feedback "anchor" "fail")', user_id="bob")
    decay = allowed.policies.add("(decay! 0.001)", "tick", user_id="bob")
    before = allowed.get("anchor")
    allowed.add("Of Bob.", user_id="bob")
    allowed.add("Of nobody.")
    allowed.energy.tick()
    assert allowed.get("anchor") == before
    assert _reasons(allowed, policy) == _reasons(allowed, stolen) == []
    assert [one.id for one in allowed.policies.list(user_id="ana")] == [policy]
    assert {one.id for one in allowed.policies.list(user_id="bob")} == {stolen, decay}


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ({"session_id": "s"}, {"session_id": "t"}),
        ({"agent_id": "r"}, {"agent_id": "q"}),
        ({"path": ("a", "b")}, {"path": ("a",)}),
    ],
)
def test_a_policy_of_a_session_an_agent_or_a_path_runs_for_their_memories_only(
    allowed: NeuroGraphMemory, own: dict[str, Any], other: dict[str, Any]
) -> None:
    policy = allowed.policies.add('(remember "Seen.")', user_id="ana", **own)
    for scope in (other, {}):
        allowed.add("A tram.", user_id="ana", **scope)
    assert _reasons(allowed, policy) == []
    allowed.add("A ferry.", user_id="ana", **own)
    assert len(_reasons(allowed, policy)) == 1


def test_an_event_has_a_hundred_runs_within_a_second_at_most_and_none_while_frozen(
    allowed: NeuroGraphMemory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ids = allowed.add([f"Heron {number}." for number in range(101)], user_id="ana")
    allowed.policies.add('(feedback it "success")', user_id="ana")
    monkeypatch.setattr(policies, "_SECONDS", 60.0)
    assert [run.it for run in allowed.policies.run("remember", ids)] == ids[:100]
    assert "stop after 100 runs" in caplog.text
    monkeypatch.setattr(policies, "_SECONDS", -1.0)
    assert allowed.policies.run("remember", ids) == []
    monkeypatch.setattr(policies, "_SECONDS", 60.0)
    allowed.learning.freeze()
    assert allowed.policies.run("remember", ids[:1]) == []


def test_what_no_check_has_seen_never_runs(allowed: NeuroGraphMemory) -> None:
    allowed.add('(remember "Planted.")', kind="policy", id="planted", user_id="ana")
    allowed.update("planted", metadata={"when": "remember"})
    policy = allowed.policies.add('(remember "Checked.")', user_id="ana")
    allowed.add("A heron.", user_id="ana")
    assert "Planted." not in {one.content for one in allowed.list(user_id="ana")}
    assert [one.id for one in allowed.policies.list(user_id="ana")] == [policy]
    with pytest.raises(UnknownIdError):
        allowed.policies.dry_run("planted")


def test_policies_are_off_unless_allowed(memory: NeuroGraphMemory) -> None:
    policy = memory.policies.add('(remember "It ticked.")', "tick")
    memory.energy.tick()
    memory.add("A heron.")
    assert _reasons(memory, policy) == []
    with pytest.raises(InputError):
        memory.policies.signal("end")


def test_a_signal_runs_the_policies_of_its_user_and_reports_faults(allowed: NeuroGraphMemory) -> None:
    allowed.policies.add('(remember "Bye.")', "end", user_id="ana")
    gone = allowed.policies.add('(feedback "nothing" "success")', "end", user_id="ana")
    allowed.policies.add('(remember "Bye.")', "end", user_id="bob")
    runs = allowed.policies.signal("end", user_id="ana")
    assert [one.error is None for one in runs] == [one.policy != gone for one in runs]
    assert len(runs) == 2
    assert allowed.count(user_id="bob", kinds=["episode"]) == 0
    with pytest.raises(InputError):
        allowed.policies.signal("tick")


@pytest.mark.parametrize(
    ("expression", "when"),
    [
        ("(recal)", "tick"),
        ('(recall "x")', "remember"),
        ('(resolve "c" "both")', "tick"),
        ("(consolidate)", "tick"),
        ('(explain (remember "x"))', "tick"),
        ('(feedback it "success")', "tick"),
        ('(when (= "a" 1) (remember "x"))', "tick"),
        ('(when (= "a") (remember "x"))', "remember"),
        ('(when (remember "x"))', "remember"),
        ("(" * 900 + ")" * 900, "remember"),
        (f'(remember "{"x" * LONGEST}")', "remember"),
    ],
)
def test_what_is_no_policy_is_refused_when_it_is_stored(memory: NeuroGraphMemory, expression: str, when: str) -> None:
    with pytest.raises(ExpressionError):
        memory.policies.add(expression, when)
    assert memory.policies.list() == []


def test_a_policy_that_was_changed_or_deleted_runs_no_more(allowed: NeuroGraphMemory) -> None:
    changed, deleted = (allowed.policies.add(f'(remember "{word}.")', "end") for word in ("One", "Two"))
    assert {run.policy for run in allowed.policies.signal("end")} == {changed, deleted}
    allowed.update(changed, '(remember "Three.")')
    allowed.delete(deleted)
    assert allowed.policies.signal("end") == []


def test_a_dry_run_changes_nothing(allowed: NeuroGraphMemory) -> None:
    policy = allowed.policies.add('(when (exists "n") (feedback (list it "anchor") "success"))', user_id="ana")
    allowed.add("A ferry.", id="ferry", user_id="ana")
    allowed.add("Of Bob.", id="theirs", user_id="bob")
    before = allowed.history.list()
    assert allowed.policies.dry_run(policy, "ferry") is None
    with pytest.raises(UnknownIdError):
        allowed.policies.dry_run(policy, "theirs")
    shown = allowed.policies.dry_run(allowed.policies.add("(decay! 2)", "tick"))
    assert shown is not None
    assert shown["parameters"]["half_life"] == 2
    assert allowed.history.list()[: len(before)] == before
