import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from neurogated import Document, EdgeKey, EdgeType, GraphDelta, GraphStore, MemoryConfig, MemoryEdge, WeightChange
from neurogated.core.judgements import CausalJudgement
from neurogated.embedding.registry import HashEmbedder
from neurogated.errors import MemoryLockedError
from neurogated.ingestion.analysers import Analysis
from neurogated.ingestion.drafts import Revision
from neurogated.ingestion.writer import BATCH, Writer
from neurogated.testing import ManualClock

SENTENCES = ["The cat sleeps.", "A dog barks.", "We met in Lyon.", "The cat sleeps.", "Rain fell all day."]


class RecordingEmbedder(HashEmbedder):
    """Records the texts that it embeds."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts.extend(texts)
        return super().embed_documents(texts)


class Silent:
    """Finds neither causes nor names, so that only the engine's own work shows."""

    def judge(self, first: str, second: str) -> CausalJudgement:
        return CausalJudgement(is_causal=False, weight=0.0, reason=f"{len(first)} and {len(second)} characters")

    def find(self, text: str) -> tuple[str, ...]:
        return tuple(text[:0])


@dataclass
class Bench:
    """An engine whose chunks hold one or two short sentences, with its parts."""

    settings: dict[str, Any] = field(default_factory=dict)
    batch: int = BATCH

    def __post_init__(self) -> None:
        self.config = MemoryConfig().replace(**{"indexing.chunk_size": 4, **self.settings})
        self.clock = ManualClock()
        self.store = GraphStore(clock=self.clock)
        self.embedder = RecordingEmbedder()
        self.engine = Writer(
            self.store, self.embedder, Analysis(Silent(), Silent()), self.config, self.clock, batch=self.batch
        )

    def add(self, *documents: Document) -> list[list[str]]:
        return list(self.engine.add(documents))

    def edges(self, edge_type: EdgeType) -> list[MemoryEdge]:
        return [edge for edge in self.store.all_edges() if edge.type is edge_type]

    def pairs(self, edge_type: EdgeType) -> set[tuple[str, str]]:
        return {(edge.source_id, edge.target_id) for edge in self.edges(edge_type)}


def story(*sentences: str, title: str | None = None, **metadata: object) -> Document:
    return Document.from_text(" ".join(sentences), title=title, metadata=metadata)


@pytest.fixture
def bench() -> Bench:
    return Bench()


documents = st.lists(
    st.builds(
        lambda sentences, title, metadata: story(*sentences, title=title, **metadata),
        st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5),
        st.sampled_from([None, "Diary"]),
        st.dictionaries(st.sampled_from(["mood", "place"]), st.sampled_from(["calm", "loud"]), max_size=2),
    ),
    max_size=6,
)


def test_a_document_becomes_nodes_in_the_order_of_its_text() -> None:
    # A chunk leaves room for its title and its speaker.
    bench = Bench({"indexing.chunk_size": 5})
    (ids,) = bench.add(story(*SENTENCES, title="Diary", mood="calm"))

    nodes = bench.store.get_nodes(ids)
    assert [node.content for node in nodes] == SENTENCES
    for node, vector in zip(
        nodes, HashEmbedder().embed_documents([f"Diary\n{text}" for text in SENTENCES]), strict=True
    ):
        assert np.array_equal(np.asarray(node.embedding), vector)
        assert node.created_at == node.last_accessed == bench.clock.now
        assert node.base_energy == node.importance


def test_the_same_document_again_changes_nothing_and_embeds_nothing(bench: Bench) -> None:
    document = story(*SENTENCES, title="Diary", mood="calm")
    first = bench.add(document)
    sequence, nodes, edges = bench.store.view().sequence, list(bench.store.all_nodes()), list(bench.store.all_edges())
    bench.embedder.texts.clear()
    bench.clock.advance(timedelta(days=1))

    assert bench.add(document) == first
    assert bench.add(replace(document, metadata={})) == first

    assert bench.store.view().sequence == sequence
    assert bench.embedder.texts == []
    assert list(bench.store.all_nodes()) == nodes
    assert list(bench.store.all_edges()) == edges


def test_new_metadata_is_merged_and_leaves_energy_times_and_learned_weights(bench: Bench) -> None:
    (ids,) = bench.add(story(*SENTENCES[:3], mood="calm", place="home"))
    born = bench.clock.now
    learned = EdgeKey(ids[0], ids[1], EdgeType.SEQ)
    tired = replace(bench.store.get_node(ids[0]), base_energy=0.25)
    bench.store.apply(GraphDelta(nodes=(tired,)))
    bench.store.apply(GraphDelta(weights=(WeightChange(learned, 0.5),)))
    edges = [edge for edge in bench.store.all_edges() if edge.type.plastic]
    bench.clock.advance(timedelta(days=1))

    assert bench.add(story(*SENTENCES[:3], mood="loud", pet="cat")) == [ids]

    first, second, _ = bench.store.get_nodes(ids)
    assert {"mood": "loud", "place": "home", "pet": "cat"}.items() <= first.metadata.items()
    assert (first.base_energy, second.base_energy) == (0.25, 0.5)
    assert first.created_at == first.last_accessed == born
    assert [edge for edge in bench.store.all_edges() if edge.type.plastic] == edges
    assert bench.store.get_edge(*learned).weight == 0.5


@given(documents=documents, batch=st.integers(1, 8))
def test_batches_of_any_size_make_the_same_graph(documents: list[Document], batch: int) -> None:
    first, second = Bench(batch=batch), Bench(batch=1000)

    assert first.add(*documents) == second.add(*documents)

    assert list(first.store.all_nodes()) == list(second.store.all_nodes())
    weights, expected = ({edge.key: edge.weight for edge in bench.store.all_edges()} for bench in (first, second))
    assert weights.keys() == expected.keys()
    assert weights == pytest.approx(expected, abs=1e-6)


class Overtaken(Silent):
    """Another writer adds a turn to the session whenever a text is analysed, a given number of times."""

    def __init__(self, wins: int) -> None:
        self.wins, self.lost = wins, 0
        self.overtake: Callable[[int], None] = print

    def find(self, text: str) -> tuple[str, ...]:
        if self.lost < self.wins:
            self.lost += 1
            other = threading.Thread(target=self.overtake, args=(self.lost,))
            other.start()
            other.join()
        return super().find(text)


@pytest.mark.parametrize("change", ["add", "update"])
def test_a_text_is_analysed_without_the_lock_however_often_other_writers_win(change: str) -> None:
    bench, judge, errors = Bench(), Overtaken(5), list[Exception]()

    def turn(text: str) -> Document:
        return Document.from_text(text, user_id="ana", session_id="one")

    list(bench.engine.add([turn("The mill closed.")]))
    (moved,) = bench.engine.add([turn("So we moved.")])
    overtaken = Writer(bench.store, bench.embedder, Analysis(judge, judge), bench.config, bench.clock)

    def overtake(number: int) -> None:
        try:
            # Without the lock at once, this raises.
            with bench.store.exclusively(0):
                list(bench.engine.add([turn(f"Turn {number}.")]))
        except MemoryLockedError as error:
            errors.append(error)

    judge.overtake = overtake
    if change == "add":
        list(overtaken.add([turn("Then it rained.")]))
    else:
        overtaken.update(moved[0], Revision("So we moved on 3 May.", ttl=60))
    # An updated text is judged with the turn after it, so later turns do not change its plan.
    assert (judge.lost, errors) == (5 if change == "add" else 2, [])
    turns = sorted(bench.store.snapshot().find(), key=lambda node: node.position or 0)
    said = [node.content for node in turns]
    added = [f"Turn {number}." for number in range(1, judge.lost + 1)]
    assert said[2 : judge.lost + 2] == added
    assert said[judge.lost + 2 :] == ["Then it rained."] * (change == "add")
    assert said[1] == ("So we moved." if change == "add" else "So we moved on 3 May.")
