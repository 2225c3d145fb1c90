"""The effect of the conversation around a turn matches plain Python that walks it turn by turn."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations, pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from graph_store_kit.reads import keyword_search
from neurogated import EdgeType, GraphStore, Kernel, MemoryConfig, MemoryEdge, MemoryNode, NeuroGraphMemory, Scope
from neurogated.core.found import Found
from neurogated.core.turns import asks, length_level
from neurogated.retrieval.formula import Formula
from neurogated.retrieval.similarity import QuestionSimilarity
from neurogated.retrieval.turns import Samples, is_first_person
from neurogated.text.keywords import fold

OFF = Formula(keywords_for_like_vectors=False).without_turns
QUERY = "Did I see a heron in Lyon?"
TOWARDS = np.array([0.8, 0.6], dtype=np.float32)


def chained(*sessions: Sequence[MemoryNode]) -> GraphStore:
    store = GraphStore()
    for turns in sessions:
        for node in turns:
            store.add_node(node)
        for first, second in pairwise(turns):
            store.add_edge(MemoryEdge(first.id, second.id, EdgeType.SEQ, 1.0))
    return store


def asked(store: GraphStore, query: str = QUERY, formula: Formula = OFF) -> QuestionSimilarity:
    samples = Samples(store.snapshot(), MemoryConfig(), formula)
    similarity = QuestionSimilarity(samples, query=query, vector=TOWARDS, kernel=Kernel())
    similarity.propose(100)
    return similarity


texts = st.sampled_from(
    ["a heron", "Lyon and a heron?", "what?", "stone", "the heron of Lyon", "Where is it?", "bird " * 120]
)
vectors = st.sampled_from([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [-0.8, 0.6]])
turns = st.lists(st.tuples(texts, vectors, st.sampled_from(["user", "assistant", None])), max_size=6)


def session(number: int, drawn: Sequence[tuple[str, list[float], str | None]]) -> list[MemoryNode]:
    return [
        MemoryNode(f"s{number}-{place}", text, embedding=vector, role=role, position=place)
        for place, (text, vector, role) in enumerate(drawn)
    ]


def own(store: GraphStore, node: MemoryNode) -> float:
    scores = dict(keyword_search(store, QUERY, len(store)))
    vector: NDArray[np.float32] = np.asarray(node.embedding)
    cosine = float(vector @ TOWARDS / np.linalg.norm(vector))
    best = max(scores.values(), default=0.0)
    return cosine + MemoryConfig().retrieval.keyword_weight * (scores.get(node.id, 0.0) / best if best else 0.0)


@given(st.lists(turns, max_size=3))
def test_the_turns_around_count_as_a_walk_along_the_session_says(
    drawn: list[list[tuple[str, list[float], str | None]]],
) -> None:
    sessions = [session(number, one) for number, one in enumerate(drawn)]
    everything = [node for one in sessions for node in one]
    if not everything:
        return
    store = chained(*sessions)
    got = asked(store, formula=replace(OFF, neighbour_weight=0.75, answer_weight=0.25)).of(store.view().live_nodes())
    similarity = {node.id: own(store, node) for node in everything}
    means: dict[str, float] = {}
    for one in sessions:
        for place, node in enumerate(one):
            around = one[max(0, place - 2) : place] + one[place + 1 : place + 3]
            if around:
                values = [similarity[other.id] for other in around]
                means[node.id] = 0.4 * sum(values) / len(values) + 0.6 * max(values)
    centre = sum(means.values()) / len(means) if means else 0.0
    average = sum(similarity.values()) / len(similarity)
    row = 0
    for one in sessions:
        for place, node in enumerate(one):
            expected = 0.75 * (means[node.id] - centre) if node.id in means else 0.0
            if place and asks(one[place - 1].content):
                expected += 0.25 * (similarity[one[place - 1].id] - average)
            expected -= 0.1 * asks(node.content)
            expected /= 2 ** length_level(len(node.content.split()))
            assert got.neighbours[row] == pytest.approx(expected, abs=1e-6)
            row += 1


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Where did I park?", True),
        ("What's my dog called?", True),
        ("Wo habe ich geparkt?", True),
        ("我的狗叫什么?", True),
        ("我们去哪里?", False),
        ("Where did Ann park?", False),
        ("Who painted the Mona Lisa?", False),
    ],
)
def test_who_asks_of_herself_is_told_her_own_words_first(query: str, *, first: bool) -> None:
    assert is_first_person(fold(query)) is first
    store = chained(
        [MemoryNode(role, "a heron", role=role, position=n) for n, role in enumerate(("user", "assistant"))]
    )
    got = asked(store, query, replace(OFF, own_words_weight=0.05)).of(store.view().live_nodes())
    assert got.message.tolist() == pytest.approx([0.05 * first, 0.0])


@given(st.lists(turns, min_size=1, max_size=3))
def test_a_turn_loses_by_its_mean_cosine_with_all_turns(drawn: list[list[tuple[str, list[float], str | None]]]) -> None:
    sessions = [session(number, one) for number, one in enumerate(drawn)]
    everything = [node for one in sessions for node in one]
    # A document is no turn, so it changes nothing.
    store = chained(*sessions, [MemoryNode("document", "a heron", embedding=[0.6, 0.8])])
    got = asked(store, formula=replace(OFF, generic_cost=0.3)).of(store.view().live_nodes())
    units = [np.asarray(node.embedding) / np.linalg.norm(np.asarray(node.embedding)) for node in everything]
    means = [sum(float(unit @ other) for other in units) / len(units) for unit in units]
    expected = [0.3 * (sum(means) / len(means) - mean) for mean in means] if means else []
    assert got.message.tolist() == pytest.approx([*expected, 0.0], abs=1e-6)


@pytest.mark.parametrize(("repeating", "share"), [(0, 1.0), (1, 1.0), (3, 0.6), (7, 0.0), (8, 0.0)])
def test_turns_around_count_less_the_more_turns_repeat_their_rare_words(repeating: int, share: float) -> None:
    # Eight pairs of near turns.
    vectors = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]
    sessions = [session(number, [("stone", one, "user") for one in vectors]) for number in range(2)]
    sessions += [session(number, [("stone", one, "user") for one in vectors[:2]]) for number in (2, 3)]
    pairs = [pair for one in sessions for pair in combinations(one, 2)]
    store, rare = chained(*sessions), chained(*sessions)
    for first, second in pairs[:repeating]:
        rare.add_edge(MemoryEdge(second.id, first.id, EdgeType.TERM, 0.5))
    for part, formula in (
        ("neighbours", replace(OFF, neighbour_weight=0.5)),
        ("message", replace(OFF, generic_cost=0.5)),
    ):
        least, full = (
            getattr(asked(each, formula=formula).of(each.view().live_nodes()), part) for each in (rare, store)
        )
        assert np.abs(full).max() > 0
        assert least.tolist() == pytest.approx((share * full).tolist())


CALLS = [
    ("user", "Hey Mel! I was in Lyon.", ["Mel", "Lyon"]),
    ("assistant", "Nice, Ann!", ["Ann"]),
    ("user", "Thanks, Mel.", ["Mel"]),
    ("assistant", "Bye, Ann!", ["Ann"]),
]


def talk(*said: tuple[str, str, list[str]], user: str | None = None) -> list[MemoryNode]:
    return [
        MemoryNode(f"{user}-{place}", text, role=role, position=place, found=Found(names), scope=Scope(user_id=user))
        for place, (role, text, names) in enumerate(said)
    ]


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("What did Mel say?", [0, 1, 0, 1]),
        ("Where was ann?", [1, 0, 1, 0]),
        ("where was anns dog", [1, 0, 1, 0]),
        ("Was it Ann or Mel?", [1, 1, 1, 1]),
        ("Where is Lyon?", [0, 0, 0, 0]),
    ],
)
def test_speakers_are_known_by_the_names_they_are_called(query: str, meant: list[int]) -> None:
    store = chained(talk(*CALLS))
    rows = store.view().live_nodes()
    assert asked(store, query).of(rows).subject.tolist() == meant


def test_a_compaction_after_a_deletion_changes_no_score(config: MemoryConfig) -> None:
    things = ("harbours of an island", "a loaf of bread with olives", "the radio that Ines repaired", "plums")
    said = [
        {"role": ("user", "assistant")[day % 2], "content": f"On day {day} I wrote of {things[day % 7 % 4]}."}
        for day in range(400)
    ]
    with NeuroGraphMemory(config) as memory:
        ids = memory.add(said, user_id="ana", session_id="diary")
        memory.delete([ids[3], ids[100], ids[101]])
        now = datetime.now(UTC)

        def scores() -> list[tuple[str, float]]:
            found = memory.retriever.recall("What did I write of the radio?", user_id="ana", now=now)
            return [(one.id, round(one.score, 9)) for one in found]

        before = scores()
        assert memory.admin.compact(history=True) == 3
        assert scores() == before
