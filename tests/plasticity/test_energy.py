"""Energy: its closed form, uses, outcomes, dormancy and waking."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from graph_store_kit.histories import START
from neurogated import GraphDelta, GraphStore, MemoryConfig, MemoryNode
from neurogated.config.groups import MetabolismSettings
from neurogated.core.clock import to_micros
from neurogated.core.delta import Access
from neurogated.core.scope import Scope
from neurogated.plasticity.access_log import AccessLog
from neurogated.plasticity.energy import USE_GAIN, EnergyController
from neurogated.plasticity.plasticity_engine import PlasticityEngine
from neurogated.plasticity.undo import undo
from neurogated.testing import ManualClock

DAY = timedelta(days=1)
SETTINGS = MetabolismSettings(half_lives="10, fact=100, turn=1")
CONTROLLER = EnergyController(SETTINGS)
HALF_LIVES = {"episode": 10.0, "fact": 100.0, "turn": 1.0}


@dataclass
class Reference:
    """The energy of one node, by the definition: each part decays from its own time, and not before it."""

    half_life: float
    base: float
    based: datetime
    charge: float = 0.0
    charged: datetime = field(default=START)

    def left(self, since: datetime, now: datetime) -> float:
        return float(0.5 ** (max(timedelta(0), now - since) / (self.half_life * DAY)))

    def energy(self, now: datetime) -> float:
        return min(1.0, self.base * self.left(self.based, now) + self.charge * self.left(self.charged, now))

    def use(self, now: datetime) -> None:
        missing = 1 - self.energy(now)
        self.charge = self.charge * self.left(self.charged, now) + missing * USE_GAIN
        self.charged = now

    def judge(self, outcome: float, now: datetime) -> None:
        energy = self.energy(now)
        wanted = energy + (1 - energy) * 0.2 * outcome if outcome > 0 else energy * (1 + 0.1 * outcome)
        self.base, self.based = max(0.0, wanted - self.charge * self.left(self.charged, now)), now
        if not self.base:
            self.charge, self.charged = wanted, now


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["use", "use twice", "judge", "write", "wait"]),
        st.sampled_from(sorted(HALF_LIVES)),
        st.integers(-40, 60),
        st.sampled_from([1.0, 0.5, -0.5, -1.0]),
    ),
    max_size=25,
)


@given(EVENTS, st.sampled_from([0.0, 0.3, 1.0]))
@settings(deadline=None)
def test_energy_equals_the_reference_after_any_uses_outcomes_and_clock_jumps(
    events: list[tuple[str, str, int, float]], energy: float
) -> None:
    clock = ManualClock(START)
    store = GraphStore(clock=clock)
    nodes = [MemoryNode(k, k, kind=k, base_energy=energy, importance=1.0, created_at=START) for k in HALF_LIVES]
    store.apply(GraphDelta(nodes=tuple(nodes), at=START))
    config = MemoryConfig(metabolism=SETTINGS)
    log, engine = AccessLog(clock, CONTROLLER, 1e9, 10), PlasticityEngine(store, config, clock)
    expected = {kind: Reference(half_life, energy, START) for kind, half_life in HALF_LIVES.items()}
    for what, kind, hours, outcome in events:
        clock.advance(timedelta(hours=hours, microseconds=7))
        if what.startswith("use"):
            log.add(store, Access({kind: 2 if what == "use twice" else 1}))
            expected[kind].use(clock())
            if what == "use twice":
                expected[kind].use(clock())
        elif what == "judge":
            log.flush()
            engine.reinforce_recalled([kind], outcome=outcome)
            expected[kind].judge(outcome, clock())
        elif what == "write":
            log.flush()
    log.flush()
    for later in (timedelta(0), -3 * DAY, 5 * DAY, 400 * DAY):
        now = clock() + later
        view = store.view()
        found = {kind: CONTROLLER.energy(view, kind, now) for kind in HALF_LIVES}
        assert found == pytest.approx({kind: one.energy(now) for kind, one in expected.items()}, abs=1e-9)
        assert all(0 <= value <= 1 for value in found.values())


def _store(clock: ManualClock, **fields: object) -> GraphStore:
    store = GraphStore(clock=clock)
    node = MemoryNode("a", "a", created_at=clock(), last_accessed=clock(), **fields)  # type: ignore[arg-type]
    store.apply(GraphDelta(nodes=(node,), at=clock()))
    return store


def test_success_and_failure_move_energy_and_importance_and_are_undone(clock: ManualClock) -> None:
    store = _store(clock, base_energy=0.9, importance=0.9)
    engine = PlasticityEngine(store, MemoryConfig(), clock)
    engine.reinforce_recalled(["a"])
    assert store.get_node("a").importance == pytest.approx(0.92)
    assert CONTROLLER.energy(store.view(), "a", clock()) == pytest.approx(0.92)
    engine.reinforce_recalled(["a"], outcome=-1.0)
    assert store.get_node("a").importance == pytest.approx(0.828)
    assert CONTROLLER.energy(store.view(), "a", clock()) == pytest.approx(0.828)
    undo(store, 1, clock)
    node = store.get_node("a")
    assert (node.importance, node.base_energy, node.energy_at) == (0.9, 0.9, clock())


def _dormant(store: GraphStore, now: datetime) -> bool:
    view = store.view()
    return bool(EnergyController(MetabolismSettings()).law.dormant(view, view.rows(["a"]), to_micros(now))[0])


def test_a_use_wakes_a_dormant_memory_and_the_journal_says_so(clock: ManualClock) -> None:
    store = _store(clock, base_energy=0.05, importance=0.1)
    clock.advance(40 * DAY)
    assert _dormant(store, clock())
    log = AccessLog(clock, EnergyController(MetabolismSettings()), 1e9, 10)
    log.add(store, Access({"a": 2}))
    clock.advance(DAY)
    log.flush()
    assert not _dormant(store, clock())
    last = store.history()[-1]
    assert (last.reason, last.changes) == ("use: 1 dormant memories woke", {"nodes changed": 1})
    reference = Reference(180.0, 0.05, clock() - 41 * DAY)
    before = reference.energy(clock() - DAY)
    twice = 1 - (1 - before) * 0.9**2
    energy = EnergyController(MetabolismSettings()).energy(store.view(), "a", clock())
    assert energy == pytest.approx(twice * reference.left(clock() - DAY, clock()), abs=1e-9)


def test_the_log_tells_shared_memories_apart_when_it_is_written(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = _store(clock)
    store.add_node(MemoryNode("own", "own", created_at=clock(), scope=Scope(user_id="ana")))
    log = AccessLog(clock, EnergyController(MetabolismSettings()), 1e9, 10)
    with monkeypatch.context() as patch:
        patch.delattr(GraphStore, "view")
        for user in ("ana", "ana", None):
            log.add(store, Access({"a": 1, "own": 1} if user else {"a": 1}), user)
    log.flush()
    assert (store.get_node("own").uses, store.get_node("a").uses) == (2, 1)
    log.add(store, Access({"a": 1}), "ana")
    log.flush()
    assert store.get_node("a").uses == 1
