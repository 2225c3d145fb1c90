"""The writer of memories: batches that are read ahead, its recent nodes, bursts of messages, and the cost of one."""

from __future__ import annotations

import statistics
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.calls import calls_of
from neurogated import (
    Document,
    EdgeKey,
    EdgeType,
    GraphDelta,
    GraphStore,
    MemoryConfig,
    MemoryEdge,
    NeuroGraphMemory,
    WeightChange,
)
from neurogated.core.delta import Access
from neurogated.core.judgements import CausalJudgement
from neurogated.core.scope import Scope
from neurogated.embedding.registry import HashEmbedder
from neurogated.errors import EmbeddingError, InputError, MemoryLockedError
from neurogated.ingestion.analysers import Analysis
from neurogated.ingestion.contents import Message
from neurogated.ingestion.drafts import Revision
from neurogated.ingestion.writer import BATCH, Writer
from neurogated.session.compose import build
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


def test_the_next_batch_is_embedded_while_the_one_before_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(batch=3)
    begun = threading.Event()
    embed, apply = bench.embedder.embed_documents, bench.store.apply

    def embed_and_tell(texts: Sequence[str]) -> NDArray[np.float32]:
        if "Rain fell." in texts:
            begun.set()
        return embed(texts)

    def apply_when_told(delta: GraphDelta) -> int:
        assert begun.wait(timeout=60)
        return apply(delta)

    monkeypatch.setattr(bench.embedder, "embed_documents", embed_and_tell)
    monkeypatch.setattr(bench.store, "apply", apply_when_told)

    texts = ["We met.", "We left.", "We slept.", "Rain fell.", "It was wet.", "Snow fell."]
    bench.add(*map(story, texts))

    assert bench.embedder.texts == texts


@pytest.mark.parametrize("failing", ["document", "embedder"])
def test_batches_before_a_failure_are_stored(failing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(batch=1)
    embed = bench.embedder.embed_documents

    def fail_on_rain(texts: Sequence[str]) -> NDArray[np.float32]:
        if "Rain fell." in texts:
            raise EmbeddingError("text 0 is too wet")
        return embed(texts)

    monkeypatch.setattr(bench.embedder, "embed_documents", fail_on_rain)
    wet = {"when": bench.clock.now} if failing == "document" else {"mood": "calm"}
    documents = (story(text, **about) for text, about in (("We met.", {}), ("Rain fell.", wet), ("A dog barks.", {})))
    stored: list[list[str]] = []

    with pytest.raises(InputError if failing == "document" else EmbeddingError, match=r"is not JSON|too wet"):
        stored.extend(bench.engine.add(documents))

    assert [node.content for node in bench.store.all_nodes()] == ["We met."]
    assert [[node.id for node in bench.store.all_nodes()]] == stored
    assert not any(thread.name.startswith("embedding") for thread in threading.enumerate())


CONFIG = MemoryConfig(storage="memory", embedding_name="hash")
_TEXT = "The key lies under the mat."


def _reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    read: list[int] = []
    real = GraphStore.get_nodes

    def get_nodes(store: GraphStore, node_ids: Sequence[str], **details: Any) -> Any:  # noqa: ANN401
        read.append(len(node_ids))
        return real(store, node_ids, **details)

    monkeypatch.setattr(GraphStore, "get_nodes", get_nodes)
    return read


def _turn(memory: NeuroGraphMemory, text: str) -> str:
    return memory.add(text, user_id="ana", session_id="s")[0]


def _equal_pairs(memory: NeuroGraphMemory) -> set[frozenset[str]]:
    edges = memory.store.all_edges()
    return {frozenset(edge.key[:2]) for edge in edges if edge.type is EdgeType.SAME_AS}


def test_the_next_turn_of_a_conversation_reads_no_stored_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        first = [_turn(memory, f"I saw {count} herons today.") for count in range(4)]
        read = _reads(monkeypatch)
        last = _turn(memory, "I saw 3 herons today.")
        assert sum(read) == 0
        assert _equal_pairs(memory) == {frozenset((first[3], last))}


OTHER = "The key hangs in the hall."
CHANGES: dict[str, Callable[[NeuroGraphMemory, str], object]] = {
    "update": lambda memory, name: memory.update(name, content=OTHER),
    "delete": lambda memory, name: memory.delete([name]),
    "undo": lambda memory, _: memory.undo(user_id="ana"),
    "apply": lambda memory, name: memory.store.apply(
        GraphDelta(nodes=(memory.store.get_node(name).changed(content=OTHER),))
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_text_is_compared_with_what_is_stored_now(change: Callable[[NeuroGraphMemory, str], object]) -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        _turn(memory, "I am home.")
        change(memory, _turn(memory, _TEXT))
        last = _turn(memory, _TEXT)
        assert not _equal_pairs(memory)
        assert memory.store.get_node(last).content == _TEXT


def _roll_back(memory: NeuroGraphMemory) -> None:
    assert isinstance(memory.store, GraphStore)
    with memory.store.transaction():
        _turn(memory, _TEXT)
        raise KeyError


def test_a_text_whose_write_was_rolled_back_is_forgotten() -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        before = _turn(memory, "I am home.")
        with pytest.raises(KeyError):
            _roll_back(memory)
        last = _turn(memory, _TEXT)
        assert [node.id for node in memory.store.all_nodes()] == [before, last]
        assert {edge.key[:2] for edge in memory.store.all_edges() if edge.type is EdgeType.SEQ} == {(before, last)}
        assert not _equal_pairs(memory)


def test_a_turn_that_moves_keeps_the_uses_that_were_counted_meanwhile() -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        turns = [memory.add(_TEXT, user_id="ana", session_id="s", timestamp=f"2026-01-0{day}")[0] for day in (1, 3)]
        memory.store.apply(GraphDelta(touch=Access.of(turns)))
        for _ in range(40):
            # Late turns between the two take the room between their positions.
            memory.add("I am home.", user_id="ana", session_id="s", timestamp="2026-01-02")
        assert [memory.store.get_node(turn).uses for turn in turns] == [1, 1]


_TEXTS = (
    "I moved to Lyon with Ana yesterday.",
    "Hello! I moved to Lyon with Ana yesterday.",
    "Because of this I sold the red car.",
    "Ana's dog is named Rex.",
    "Did you see Rex near the river?",
    "Thanks, Ana!",
)
_BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
_MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant"]), "content": st.sampled_from(_TEXTS)},
        optional={
            "name": st.sampled_from(["Ana", "Ben"]),
            "timestamp": st.integers(0, 3).map(lambda days: _BEGIN + timedelta(days)),
        },
    ),
    min_size=2,
    max_size=9,
)


def _graph(memory: NeuroGraphMemory, user_id: str, calls: Iterable[list[Message]]) -> tuple[object, object]:
    """Return the nodes and edges that calls with messages leave for a new user, with places in place of ids."""
    ids = [memory.add("Rex is a dog.", title="Rex", user_id=user_id)[0]]
    ids += [name for messages in calls for name in memory.add(messages, user_id=user_id, session_id="s")]
    places = {name: place for place, name in enumerate(dict.fromkeys(ids))}
    nodes = [node.changed(id="", scope=Scope()) for node in memory.store.get_nodes(list(places)[1:])]
    edges = {
        (places[edge.source_id], places[edge.target_id], edge.type, round(edge.weight, 9))
        for edge in memory.store.all_edges()
        if edge.source_id in places
    }
    return nodes, edges


def test_a_list_of_messages_leaves_the_graph_of_one_by_one() -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash")
    users = count()
    with NeuroGraphMemory(config, parts=build(config, ManualClock(_BEGIN))) as memory:

        @settings(max_examples=20, deadline=None)
        @given(messages=_MESSAGES, size=st.integers(2, 9))
        def check(messages: list[Message], size: int) -> None:
            bursts = [messages[begin : begin + size] for begin in range(0, len(messages), size)]
            together = _graph(memory, f"user {next(users)}", bursts)
            assert together == _graph(memory, f"user {next(users)}", [[one] for one in messages])

        check()


_MOST_CALLS = 4_000
_TOGETHER = 8
_MOST_SHARE = 0.6
"""Of the calls of a message alone, those of one in a list."""
_WORDS = ("river", "stone", "garden", "winter", "copper", "window", "silver", "market", "forest", "letter")


def _message(number: int) -> dict[str, str]:
    first, second = _WORDS[number % len(_WORDS)], _WORDS[number // len(_WORDS) % len(_WORDS)]
    text = f"We spoke about the {first} near the {second} on day {number}. It was a good walk, and I liked it."
    return {"role": "user" if number % 2 else "assistant", "content": text}


def test_a_message_takes_a_bounded_number_of_calls_and_in_a_list_far_fewer(tmp_path: Path) -> None:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")) as memory:
        alone = [
            calls_of(partial(memory.add, _message(number), user_id="ana", session_id=f"session {number // 20}"))
            for number in range(60)
        ]
        together = [
            calls_of(partial(memory.add, [_message(begin + one) for one in range(_TOGETHER)], user_id="ana"))
            for begin in range(60, 100, _TOGETHER)
        ]
    message = statistics.median(alone[40:])
    assert message < _MOST_CALLS, alone[40:]
    assert statistics.median(together) / _TOGETHER < _MOST_SHARE * message, together
