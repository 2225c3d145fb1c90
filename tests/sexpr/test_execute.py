"""Running expressions: what they do, and that they do nothing else."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.edge_type import EdgeType
from neurogated.errors import ExpressionError, InputError, NeurogatedError, UnknownIdError
from neurogated.sexpr import check, write
from neurogated.sexpr.cypher import TEXTS
from neurogated.testing import ManualClock
from tests.sexpr.random_expressions import calls, expressions


def _fill(memory: NeuroGraphMemory) -> None:
    for name in ("a", "b", "c"):
        memory.add(f"Ana saw the {name} of the harbour.", id=name, user_id="ana")
    memory.add("The ferry of Bob sank.", id="theirs", user_id="bob")


_THEIRS = "ferry"
"""A word of another user's memory."""
_CHANGES = {
    "remember": {"nodes put", "edges put", "nodes changed", "weights changed"},
    "associate": {"edges put"},
    "feedback": {"edges put", "edges removed", "weights changed", "nodes changed"},
    "decay!": {"nodes changed"},
    "consolidate": {"nodes put", "edges put", "edges removed", "weights changed", "nodes changed"},
    "resolve": {"nodes put", "edges put", "edges removed", "nodes changed"},
}
"""What an operation may change."""
_CALLS_OF_A_MEMORY = 500
"""Calls after which a fuzzed memory is replaced, for its history would make each call slower."""


class _Fuzzed:
    """A memory in which Ana runs random calls."""

    def __init__(self) -> None:
        self.memory = self._filled()
        self._calls = 0

    @staticmethod
    def _filled() -> NeuroGraphMemory:
        memory = NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash"))
        _fill(memory)
        return memory

    def run(self, call: str) -> None:
        """Run a call, and assert that it changes no more than its operation may, and shows nothing of Bob's."""
        self._calls += 1
        if self._calls % _CALLS_OF_A_MEMORY == 0:
            self.memory.close()
            self.memory = self._filled()
        memory = self.memory
        last, theirs = memory.history.list()[-1].sequence, memory.get("theirs")
        operation = None
        try:
            operation = check(call).operation
            shown = json.dumps(memory.execute(call, user_id="ana"))
        except NeurogatedError as error:
            shown = str(error)
        assert _THEIRS not in shown.lower() or _THEIRS in call.lower()
        # A write first removes what has expired.
        made = [one for one in memory.history.list() if one.sequence > last and one.reason != "expired"]
        changed = {kind for one in made for kind in one.changes}
        assert changed <= (_CHANGES[operation.name] if operation is not None and operation.writes else set())
        assert memory.get("theirs") == theirs
        assert [one.id for one in memory.list(user_id="bob") if one.scope.user_id == "bob"] == ["theirs"]


def _is_read(text: str) -> bool:
    """Return whether a text is a call, or a fault with a place."""
    try:
        check(text)
    except ExpressionError as fault:
        return fault.line >= 1 and fault.column >= 1
    return True


@pytest.fixture
def filled(memory: NeuroGraphMemory) -> NeuroGraphMemory:
    _fill(memory)
    return memory


def test_the_examples_of_the_specification_run_as_written(memory: NeuroGraphMemory) -> None:
    name = memory.execute(
        '(remember "Claude discovered real memory works" "breakthrough" 0.95 "30d" (list "memory" "neo4j" "real"))'
    )
    node = memory.get(name)
    assert (node.importance, set(node.tags), dict(node.metadata)) == (
        0.95,
        {"memory", "neo4j", "real"},
        {"type": "breakthrough"},
    )
    assert node.expires_at is not None
    assert abs(node.expires_at - node.created_at - timedelta(days=30)) < timedelta(minutes=1)
    assert [one["id"] for one in memory.execute('(recall "memory" 10)')] == [name]
    assert memory.get(memory.execute('(remember "test" "event" 0.5 "7d" (list "test"))')).kind == "event"


def test_associating_again_strengthens_and_an_undo_takes_it_back(filled: NeuroGraphMemory) -> None:
    first = filled.execute('(associate "a" "b" "caused-by" 0.5)', user_id="ana")
    again = filled.execute('(associate "a" "b" "caused-by" 0.5)', user_id="ana")
    assert (first["weight"], first["relation"]) == (0.5, "caused-by")
    assert again["weight"] == pytest.approx(0.5 + filled.config.HEBBIAN_LEARNING_RATE)
    filled.undo(user_id="ana")
    assert filled.store.get_edge("a", "b", EdgeType.ASSOC).weight == 0.5
    rate = filled.config.HEBBIAN_LEARNING_RATE
    for weight, wanted in ((0.7, 0.7 + rate), (0.1, 0.7 + 2 * rate), (1.0, 1.0)):
        stronger = filled.graph.associate("a", "b", weight=weight, user_id="ana")
        assert stronger.weight == pytest.approx(wanted)
        assert stronger.relation == "caused-by"
    assert filled.graph.associate("b", "c", "causal", 0.7, user_id="ana").type is EdgeType.CAUSE
    similar = filled.graph.associate("a", "c", "semantic", 0.123, user_id="ana")
    assert similar.type is EdgeType.SIM
    assert similar.weight != 0.123


def test_feedback_and_decay_change_energies(config: MemoryConfig, clock: ManualClock) -> None:
    from dataclasses import replace

    from neurogated.session.compose import build

    with NeuroGraphMemory(config, parts=replace(build(config), clock=clock)) as memory:
        memory.add("A heron.", id="a", importance=0.5)
        before = memory.energy.of("a")
        memory.execute('(feedback "a" "success")')
        assert memory.energy.of("a") > before
        clock.advance(timedelta(days=2))
        used = memory.energy.of("a")
        assert memory.execute("(decay! 1)") >= 1
        assert memory.energy.of("a") < used
        memory.undo()
        assert memory.energy.of("a") == pytest.approx(used)


def test_another_users_memory_does_not_exist(filled: NeuroGraphMemory) -> None:
    before = filled.history.list()
    for one in (
        '(associate "a" "theirs" "x")',
        '(feedback "theirs" "fail")',
        '(trace "theirs")',
        '(path "a" "theirs")',
        '(activate (list "a" "theirs"))',
    ):
        with pytest.raises(UnknownIdError) as theirs:
            filled.execute(one, user_id="ana")
        with pytest.raises(UnknownIdError) as nobodys:
            filled.execute(one.replace("theirs", "nowhere"), user_id="ana")
        assert str(theirs.value).replace("theirs", "nowhere") == str(nobodys.value)
    assert filled.history.list() == before
    assert filled.execute("(stats)", user_id="ana")["memories"] == 3
    assert filled.execute("(stats)")["memories"] == 0
    energy = filled.energy.of("theirs")
    filled.execute("(decay! 0.001)", user_id="ana")
    assert filled.energy.of("theirs") == pytest.approx(energy, abs=1e-4)
    with pytest.raises(InputError, match="user_id"):
        filled.execute("(consolidate)")


def test_a_user_cannot_connect_shared_memories_for_all_users(memory: NeuroGraphMemory) -> None:
    memory.add("Red.", id="r")
    memory.add("Blue.", id="b")
    with pytest.raises(InputError):
        memory.execute('(associate "r" "b" "secret")', user_id="ana")
    assert memory.execute('(associate "r" "b" "likes")')["relation"] == "likes"


def test_a_user_teaches_shared_memories_nothing(memory: NeuroGraphMemory) -> None:
    shared = memory.add(["The pump stands in Lyon.", "The fan is in Paris."])
    edges, nodes = list(memory.store.all_edges()), memory.store.get_nodes(shared)
    assert memory.execute(f'(feedback (list "{shared[0]}" "{shared[1]}") "success")', user_id="bob") == {"edges": 0}
    assert list(memory.store.all_edges()) == edges
    assert memory.store.get_nodes(shared) == nodes


def test_a_user_settles_own_conflicts_only(memory: NeuroGraphMemory) -> None:
    memory.facts.add("Ana", "city", "Lyon")
    memory.facts.add("Ana", "city", "Oslo")
    (shared,) = memory.execute('(conflicts "all")')
    expression = f'(resolve "{shared["id"]}" "both")'
    with pytest.raises(UnknownIdError):
        memory.execute(expression, user_id="ana")
    with pytest.raises(UnknownIdError):
        memory.conflicts.resolve(shared["id"], "both", user_id="ana")
    assert memory.execute(expression)["status"] == "resolved"


def test_reading_only_refuses_what_writes(filled: NeuroGraphMemory) -> None:
    with pytest.raises(InputError):
        filled.execute('(remember "x")', read_only=True)
    assert filled.execute('(query (exists "n"))', read_only=True, user_id="ana") == []
    assert filled.execute('(explain (remember "x"))', read_only=True)["writes"]


@pytest.fixture(scope="module")
def fuzzed() -> Iterator[_Fuzzed]:
    found = _Fuzzed()
    yield found
    found.memory.close()


@given(call=calls())
@settings(max_examples=50)
def test_random_calls_change_nothing_of_others_and_reading_changes_nothing(fuzzed: _Fuzzed, call: str) -> None:
    fuzzed.run(call)


def test_expressions_become_statements_of_a_committed_list() -> None:
    committed = Path(__file__).with_name("cypher_texts.txt").read_text(encoding="utf-8").splitlines()
    assert list(TEXTS) == committed
    assert len(committed) <= 100


def test_the_parameters_of_cypher_are_values(filled: NeuroGraphMemory) -> None:
    def parameters(call: str) -> dict[str, Any]:
        shown: dict[str, Any] = filled.execute(f"(explain {call})")["parameters"]
        return shown

    assert parameters('(feedback "a" "fail")')["outcome"] == -1.0
    assert parameters('(remember "x" :ttl "1d")')["ttl"] == "PT86400S"
    assert parameters('(query (and (= "n" 1) (exists "m")))')["where"] == {
        "holding": "all",
        "conditions": [
            {"path": ["n"], "operator": "=", "value": 1},
            {"path": ["m"], "operator": "exists", "value": None},
        ],
    }
    assert "step" in filled.execute('(explain (associate "a" "b"))')["provided"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_statement_follows_the_grammar_of_opencypher(text: str) -> None:
    antlr4, cypher = pytest.importorskip("antlr4"), pytest.importorskip("antlr4_cypher")
    # The grammar takes no word of its own as the name of a parameter; Neo4j does.
    tokens = antlr4.CommonTokenStream(cypher.CypherLexer(antlr4.InputStream(text.replace("$limit", "$most"))))
    parser = cypher.CypherParser(tokens)
    parser.script()
    assert parser.getNumberOfSyntaxErrors() == 0


@given(call=calls())
@settings(max_examples=50)
def test_no_value_is_pasted_into_a_statement(fuzzed: _Fuzzed, call: str) -> None:
    try:
        shown = fuzzed.memory.execute(call if call.startswith("(explain") else f"(explain {call})", user_id="ana")
    except NeurogatedError:
        return
    assert set(shown["statements"]) <= set(TEXTS)
    known = {*shown["parameters"], *shown["provided"]}
    assert {name for text in shown["statements"] for name in re.findall(r"\$(\w+)", text)} <= known
    assert json.loads(json.dumps(shown)) == shown
    assert shown["parameters"]["user_id"] == "ana"


@given(text=st.one_of(st.text(), expressions.map(write), st.text("()'\"\\; :a1.\n")))
@settings(max_examples=100)
def test_any_text_is_a_call_or_a_fault(text: str) -> None:
    assert _is_read(text)
