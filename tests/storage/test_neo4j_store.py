"""Memories in a database that speaks Bolt: several processes, data of others, what people browse, failures."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import neo4j
import pytest

from neurogated import EdgeType, MemoryConfig, MemoryEdge, MemoryNode
from neurogated.config.groups import RuntimeSettings
from neurogated.core.codec import decode
from neurogated.core.delta import GraphDelta
from neurogated.core.found import Found, Statement
from neurogated.core.model import same_vector
from neurogated.errors import InputError, MemoryLockedError
from neurogated.storage.neo4j_store import Neo4jStore
from tests.bolt_server import BoltServer

_ADDS = 100
_WRITE = """
import sys
from neurogated.core.delta import GraphDelta
from neurogated.core.model import MemoryNode
from neurogated.storage.neo4j_store import Neo4jStore

url, name, count = sys.argv[1:]
with Neo4jStore.open(url) as store:
    for number in range(int(count)):
        store.apply(GraphDelta(nodes=(MemoryNode(f"{name}-{number}", "text"),), reason="add"))
        print(number, flush=True)
"""

Ask = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def url(bolt_server: BoltServer) -> str:
    return bolt_server.url()


@pytest.fixture
def ask(bolt_server: BoltServer, url: str) -> Iterator[Ask]:
    """Return a function that runs a statement as a person would in the database's own browser."""
    memory = url.rpartition("=")[2]
    with neo4j.GraphDatabase.driver(
        f"bolt://localhost:{bolt_server.port}", auth=("root", bolt_server.password), notifications_min_severity="OFF"
    ) as driver:

        def run(text: str) -> list[dict[str, Any]]:
            with driver.session(database="tests") as session:
                return session.run(text, memory=memory).data()

        yield run


@contextmanager
def _writer(url: str, name: str, count: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", _WRITE, url, name, str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield process


def test_writers_beside_each_other_lose_nothing_acknowledged_and_a_killed_one_blocks_nobody_for_long(url: str) -> None:
    with _writer(url, "a", 10_000) as writer, _writer(url, "b", _ADDS) as other:
        assert writer.stdout is not None
        while writer.stdout.readline() != "9\n":
            pass
        writer.send_signal(signal.SIGKILL)
        acknowledged = 10 + len(writer.stdout.readlines())
        assert other.wait() == 0
    with Neo4jStore.open(url) as store:
        store.add_node(MemoryNode("later", "text"))
        ids = {node.id for node in store.all_nodes()}
        assert ids >= {f"b-{n}" for n in range(_ADDS)} | {f"a-{n}" for n in range(acknowledged)}
        assert len(ids) - 1 - _ADDS <= acknowledged + 1
        assert [entry.sequence for entry in store.journal()] == list(range(1, len(ids) + 1))
        assert store.check() == []


def test_a_writer_that_lost_its_turn_writes_nothing(url: str, ask: Ask) -> None:
    with Neo4jStore.open(url) as store:
        with store.exclusively():
            ask("MATCH (m:NeurogatedMemory {memory: $memory}) SET m.holder = 'another process'")
            with pytest.raises(MemoryLockedError):
                store.add_node(MemoryNode("a", "text"))
        ask("MATCH (m:NeurogatedMemory {memory: $memory}) SET m.until = 0")
        assert len(store) == 0
        store.add_node(MemoryNode("b", "text"))
        assert store.check() == []


@pytest.mark.parametrize("others_write", [True, False])
def test_a_write_whose_answer_comes_later_than_its_lease_is_found(
    url: str, ask: Ask, monkeypatch: pytest.MonkeyPatch, *, others_write: bool
) -> None:
    commit = neo4j.Transaction.commit
    is_lost = [True]

    def lose_answer(transaction: neo4j.Transaction) -> None:
        commit(transaction)
        if is_lost:
            is_lost.clear()
            if others_write:
                ask("MATCH (m:NeurogatedMemory {memory: $memory}) SET m.holder = '', m.until = 0")
                with Neo4jStore.open(url) as other:
                    other.add_node(MemoryNode("other", "text"))
            raise neo4j.exceptions.ServiceUnavailable("the connection was lost")

    with Neo4jStore.open(url) as store:
        monkeypatch.setattr(neo4j.Transaction, "commit", lose_answer)
        store.add_node(MemoryNode("a", "text"))
        store.add_node(MemoryNode("b", "text"))
        assert {one.id for one in store.all_nodes()} == {"a", "b"} | ({"other"} if others_write else set())
        assert store.check() == []


# Checkpoints


def _filled(url: str) -> None:
    """Make a memory with a checkpoint, which a deletion and a write follow."""
    config = MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=1))
    edge = MemoryEdge("b", "c", EdgeType.SEQ, relation="before")
    with Neo4jStore.open(url, config=config) as store:
        store.apply(GraphDelta(nodes=(MemoryNode("a", "secret"), MemoryNode("b", "x"), MemoryNode("c", "y"))))
        store.apply(GraphDelta(edges=(edge,), removed_nodes=("a",)))
    with Neo4jStore.open(url) as store:
        store.add_node(MemoryNode("d", "z"))


def test_a_checkpoint_with_a_missing_part_is_rebuilt(url: str, ask: Ask) -> None:
    _filled(url)
    ask("MATCH (c:NeurogatedCheckpoint {memory: $memory, number: 2}) DELETE c")
    with Neo4jStore.open(url) as store:
        assert [node.id for node in store.all_nodes()] == ["b", "c", "d"]
        assert store.check() == []


def test_a_compaction_erases_texts_from_checkpoints_too(url: str, ask: Ask) -> None:
    def tells(label: str) -> bool:
        stored = ask(f"MATCH (d:{label} {{memory: $memory}}) RETURN d.body AS body")
        return any(node.content == "secret" for one in stored for node in decode(one["body"]).nodes)

    with Neo4jStore.open(url, config=MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=1))) as store:
        store.apply(GraphDelta(nodes=(MemoryNode("a", "secret"), MemoryNode("b", "x"))))
    with Neo4jStore.open(url) as store:
        assert tells("NeurogatedCheckpoint")
        store.remove_node("a")
        assert store.compact() == 1
        assert not tells("NeurogatedDelta")
        assert not tells("NeurogatedCheckpoint")
        assert store.check() == []


def test_vectors_reach_no_graph_that_was_made_after_their_texts_were_read(url: str) -> None:
    with Neo4jStore.open(url) as store, Neo4jStore.open(url, "third") as other:
        store.bind_embedder("one", 2)
        for name in ("first", "second"):
            store.in_namespace(name).add_node(MemoryNode("a", f"the {name} text", [1.0, 0.0]))
        read = list(store.embedded_versions())
        fresh = [(version.key, [float("first" in version.content), 2.0, 3.0]) for version in read]
        other.drop_namespace("first")
        other.in_namespace("first").add_node(MemoryNode("a", "another text", [0.0, 1.0]))
        with pytest.raises(InputError, match="gets no vector"):
            store.replace_vectors("two", 3, fresh, GraphDelta())
        assert same_vector(other.in_namespace("second").get_node("a").embedding, [1.0, 0.0])
        assert other.check() == []


def test_a_memory_made_from_scratch_has_nothing_of_the_one_before_it(
    bolt_server: BoltServer, url: str, ask: Ask
) -> None:
    node, edge = MemoryNode("a", "secret", [1.0, 0.0], tags=("t",)), MemoryEdge("a", "b", EdgeType.ASSOC, weight=0.5)
    with Neo4jStore.open(url) as before, Neo4jStore.open(bolt_server.url()) as other:
        for store in (before, before.in_namespace("second"), other):
            store.bind_embedder("one", 2)
            store.apply(GraphDelta(nodes=(node, MemoryNode("b", "x")), edges=(edge,)))
        before.record_frozen(frozen=True)
        before.record_copy("elsewhere", exists=True)
        with Neo4jStore.open(url, from_scratch=True) as after:
            assert not after.is_frozen()
            # Texts of the one before are still there.
            assert after.copies() == ["elsewhere"]
            assert len(after.namespaces()) == 1
            left = "MATCH (n {memory: $memory}) WHERE n:NeurogatedNode OR n:NeurogatedTag OR n:NeurogatedDelta"
            assert ask(f"{left} RETURN n") == []
            after.bind_embedder("two", 3)
            after.add_node(MemoryNode("c", "new", [0.0, 1.0, 0.0]))
            assert [one.id for one in after.all_nodes()] == ["c"]
            assert (len(list(after.history())), after.check()) == (1, [])
        assert [one.id for one in other.all_nodes()] == ["a", "b"]
    with Neo4jStore.open(url) as again:
        assert not again.has_node("a")
        assert again.has_node("c")


# The nodes and relationships


def test_people_browse_memories_facts_policies_tags_and_their_relations(url: str, ask: Ask) -> None:
    EdgeType.register("ADMIRES", "admires", plastic=True, both_ways=False)
    stated = Found(statement=Statement("Ana", "city", "Lyon"))
    nodes = (
        MemoryNode("m", "Ana lives in Lyon", tags=("home", "people")),
        MemoryNode("f", "Ana city: Lyon", kind="fact", found=stated),
        MemoryNode("p", '(feedback "m" "success")', kind="policy"),
    )
    edges = (
        MemoryEdge("f", "m", EdgeType.DERIVED_FROM),
        MemoryEdge("m", "p", EdgeType("admires"), weight=0.5, relation="thinks highly of"),
    )
    with Neo4jStore.open(url) as store:
        store.apply(GraphDelta(nodes=nodes, edges=edges, reason="add"))
    assert ask("MATCH (f:Fact {memory: $memory})-[:DERIVED_FROM]->(m:Memory) RETURN f.value AS value, m.id AS id") == [
        {"value": "Lyon", "id": "m"}
    ]
    (related,) = ask("MATCH (:Memory {memory: $memory})-[e:RELATED]->(:Policy) RETURN properties(e) AS e")
    assert (related["e"]["type"], related["e"]["relation"], related["e"]["weight"]) == (
        "admires",
        "thinks highly of",
        0.5,
    )
    tags = ask("MATCH (:Memory {memory: $memory})-[:TAGGED]->(t:Tag) RETURN t.name AS name ORDER BY name")
    assert tags == [{"name": "home"}, {"name": "people"}]


def test_data_of_others_in_the_database_survives(url: str, ask: Ask) -> None:
    ask("CREATE (:Memory {id: 'a', content: 'not ours', of: $memory})-[:SEQ]->(:Tag {name: 't', of: $memory})")
    with Neo4jStore.open(url) as store:
        other = store.in_namespace("other")
        for one in (store, other):
            one.add_node(MemoryNode("a", "ours", tags=("t",)))
        store.remove_node("a")
        store.compact(history=True)
        store.drop_namespace("other")
        assert store.check() == []
    assert ask("MATCH (m:Memory {of: $memory})-[:SEQ]->(t:Tag) RETURN m.content AS content, t.name AS tag") == [
        {"content": "not ours", "tag": "t"}
    ]
    assert ask("MATCH (n {memory: $memory}) WHERE n:NeurogatedNode OR n:NeurogatedTag RETURN n") == []


def test_check_finds_what_was_changed_behind_its_back(url: str, ask: Ask) -> None:
    with Neo4jStore.open(url) as store:
        edge = MemoryEdge("a", "b", EdgeType.ASSOC, weight=0.5)
        store.apply(GraphDelta(nodes=(MemoryNode("a", "x"), MemoryNode("b", "y", tags=("t",))), edges=(edge,)))
        ask("MATCH (n:NeurogatedNode {memory: $memory, id: 'a'}) SET n.content = 'z', n.note = 'added by hand'")
        ask("MATCH (:NeurogatedNode {memory: $memory, id: 'a'})-[e:ASSOC]->() SET e.weight = 0.9")
        ask("MATCH (t:Tag {memory: $memory}) DETACH DELETE t")
        faults = store.check()
        assert len(faults) == 3
        assert not any("note" in fault for fault in faults)


def test_a_late_renewal_does_not_claim_a_lease_that_was_given_back(url: str) -> None:
    with Neo4jStore.open(url) as one, Neo4jStore.open(url) as other:
        one.add_node(MemoryNode("a", "text"))
        one.engine.turn.close()
        one.engine.turn.renewed(time.monotonic(), is_asked_for=False)
        assert one.engine.turn.began is None
        other.add_node(MemoryNode("b", "text"))
        assert one.has_node("b")


def test_a_memory_that_is_frozen_no_longer_keeps_the_property_that_earlier_builds_read(url: str, ask: Ask) -> None:
    with Neo4jStore.open(url) as store:
        for frozen in (True, False):
            store.record_frozen(frozen=frozen)
            (memory,) = ask("MATCH (m:NeurogatedMemory {memory: $memory}) RETURN m.frozen AS frozen")
            assert memory["frozen"] is not None
            assert bool(memory["frozen"]) is store.is_frozen() is frozen
