"""Ranking: the memories of a recall, their order, and their reasons."""

import math
import threading
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from neurogated import EdgeType, GraphStore, Kernel, MemoryConfig, MemoryNode, NeuroGraphMemory, Recall, compose
from neurogated.config.groups import IndexingSettings
from neurogated.config.retrieval_settings import RetrievalSettings, RetrievalSwitches
from neurogated.core.found import Found
from neurogated.core.rendering import TIME
from neurogated.core.view import Rows
from neurogated.errors import InputError
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.retrieval.neuro_retriever import NeuroRetriever
from neurogated.testing import ManualClock
from tests.retrieval.compass import Compass


def _retriever(store: GraphStore, **settings: object) -> NeuroRetriever:
    config = MemoryConfig().replace(**settings)
    return NeuroRetriever(store, config, embedder=Compass(), kernel_source=UniformKernelSource())


@pytest.fixture
def store() -> GraphStore:
    """`near` answers the question, `linked` is unlike it but follows `near`, and `other` is between them."""
    store = GraphStore()
    for name, vector in {"near": [1.0, 0.0], "other": [0.6, 0.8], "linked": [0.3, 0.954], "far": [0.0, 1.0]}.items():
        store.add_node(MemoryNode(id=name, content=f"about {name}", embedding=vector))
    store.add_edge("near", "linked", EdgeType.SEQ, 1.0)
    return store


def test_classic_ranks_by_activation_and_fills_up_by_similarity(store: GraphStore) -> None:
    recall = _retriever(store, ACTIVATION="classic", TOP_K_ANCHORS=1, MAX_HOPS=1).recall("1 0", top_n=4)
    assert recall.ids == ("near", "linked", "other", "far")
    assert [memory.score for memory in recall] == [1.0, 0.5, 0.0, 0.0]
    assert recall[1].path[0].source_id == "near"
    assert recall.activation == "classic"


def test_gated_score_is_the_weighted_sum_of_its_parts(store: GraphStore) -> None:
    settings = {"SIMILARITY_WEIGHT": 0.5, "ACTIVATION_WEIGHT": 2.0, "retrieval.switches.keep_best_first": False}
    recall = _retriever(store, TOP_K_ANCHORS=1, **settings).recall("1 0", top_n=4)
    for memory in recall:
        parts = memory.parts
        expected = 0.5 * parts["similarity"] + 2.0 * parts["activation"] + 0.05 * parts["energy"]
        assert memory.score == pytest.approx(expected)
    scores = [memory.score for memory in recall]
    assert scores == sorted(scores, reverse=True)


def test_without_activation_the_ranking_is_plain_vector_search(store: GraphStore) -> None:
    recall = _retriever(store, ACTIVATION_WEIGHT=0.0).recall("1 0", top_n=4)
    assert recall.ids == tuple(node.id for node, _ in store.vector_search([1.0, 0.0], 4))


def test_activation_lifts_what_is_linked(store: GraphStore) -> None:
    plain = _retriever(store, ACTIVATION_WEIGHT=0.0).recall("1 0", top_n=4).ids
    lifted = _retriever(store, ACTIVATION_WEIGHT=5.0, TOP_K_ANCHORS=1).recall("1 0", top_n=4).ids
    assert plain.index("linked") > plain.index("other")
    assert lifted.index("linked") < lifted.index("other")


def test_a_recall_changes_nothing(store: GraphStore) -> None:
    before = store.view().sequence
    first = _retriever(store).recall("1 0")
    assert store.view().sequence == before
    again = _retriever(store).recall("1 0")
    assert first.memories == again.memories


def test_the_access_names_the_used_nodes_and_edges(store: GraphStore) -> None:
    access = _retriever(store, ACTIVATION="classic", TOP_K_ANCHORS=1).recall("1 0", top_n=2).access
    assert access.nodes == {"near": 1, "linked": 1}
    assert {tuple(edge) for edge in access.edges} == {("near", "linked", EdgeType.SEQ)}


def test_top_n_defaults_to_the_setting_and_stops_at_the_number_of_memories(store: GraphStore) -> None:
    assert len(_retriever(store, TOP_N_RETRIEVAL=2).recall("1 0")) == 2
    assert len(_retriever(store).recall("1 0", top_n=99)) == 4


def test_an_empty_memory_recalls_nothing() -> None:
    recall = _retriever(GraphStore()).recall("1 0")
    assert list(recall) == []
    assert recall.anchors == ()


def test_equal_scores_come_in_order_of_id() -> None:
    store = GraphStore()
    for name in "cab":
        store.add_node(MemoryNode(id=name, content=name, embedding=[1.0, 0.0]))
    for mode in ("classic", "gated"):
        assert _retriever(store, ACTIVATION=mode).recall("1 0").ids == ("a", "b", "c")


@pytest.mark.parametrize("query", ["", " \n\t"])
def test_a_blank_query_is_refused(store: GraphStore, query: str) -> None:
    with pytest.raises(InputError, match="blank"):
        _retriever(store).recall(query)


def test_top_n_below_one_is_refused(store: GraphStore) -> None:
    with pytest.raises(InputError, match="top_n is 0"):
        _retriever(store).recall("1 0", top_n=0)


def test_every_stage_is_timed(store: GraphStore) -> None:
    recall = _retriever(store).recall("1 0")
    assert set(recall.seconds) == {"embed", "kernel", "search", "activate", "rank"}
    assert all(seconds >= 0 for seconds in recall.seconds.values())
    assert recall.kernel == Kernel()


class _Timely:
    """A kernel that asks for a time."""

    def generate(self, query: str, vector: NDArray[np.float32] | None = None) -> Kernel:
        assert query
        assert vector is not None
        return Kernel({EdgeType.SEQ: 2.0}, "timely", tags={TIME: 0.5})


words = st.lists(st.sampled_from(["1", "0", "heron", "stone"]), max_size=3).map(" ".join)
vectors = st.sampled_from([None, [1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [-1.0, 0.0]])
described: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"title": "0"}, {"speaker": "1 0"}, {"found": Found(times=["today"])}]
)
drawn_nodes = st.lists(st.tuples(words, vectors, described, st.integers(0, 90)), min_size=1, max_size=8)
quarters = st.integers(0, 8).map(lambda n: n / 4)
weightings = st.fixed_dictionaries(
    dict.fromkeys(
        (
            *("retrieval.keyword_weight", "retrieval.subject_weight", "retrieval.tag_weight"),
            *("SIMILARITY_WEIGHT", "ACTIVATION_WEIGHT", "RECENCY_WEIGHT", "retrieval.energy_weight"),
        ),
        quarters,
    )
)


def _attainable(recall: Recall, config: MemoryConfig) -> float:
    """Return the highest possible base score of the best memory that a search finds; spreading finds the others."""
    weights = {
        "keywords": config.retrieval.keyword_weight,
        "subject": config.retrieval.subject_weight,
        "tags": config.retrieval.tag_weight,
    }

    def likeness(parts: Mapping[str, float]) -> float:
        return parts["cosine"] + sum(weight * parts[name] for name, weight in weights.items())

    searched = [one for one in recall if one.node.embedding is not None or one.parts["keywords"]]
    if not searched:
        return 1.0
    best = max((memory.parts for memory in sorted(searched, key=lambda one: one.id)), key=likeness)
    has_keywords = any(memory.parts["keywords"] for memory in recall)
    return 1 + sum(weight * (best[name] if name != "keywords" else has_keywords) for name, weight in weights.items())


@given(drawn_nodes, st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7))), weightings)
def test_score_and_similarity_are_the_settings_weighted_sums_of_the_parts(
    drawn: list[tuple[str, list[float] | None, dict[str, Any], int]],
    links: list[tuple[int, int]],
    weights: dict[str, float],
) -> None:
    clock, store = ManualClock(), GraphStore()
    for number, (content, vector, about, days) in enumerate(drawn):
        used = clock() - timedelta(days=days)
        store.add_node(MemoryNode(f"n{number}", content, embedding=vector, **about, last_accessed=used))
    for source, target in links:
        if source != target and max(source, target) < len(drawn):
            store.add_edge(f"n{source}", f"n{target}", EdgeType.SEQ, 0.5)
    config = MemoryConfig(retrieval=RetrievalSettings(switches=RetrievalSwitches(keep_best_first=False))).replace(
        **weights
    )
    retriever = NeuroRetriever(store, config, embedder=Compass(), kernel_source=_Timely(), clock=clock)
    recall = retriever.recall("1 0", top_n=20)
    total = _attainable(recall, config)
    for memory in recall:
        parts = memory.parts
        likeness = parts["cosine"] + config.retrieval.keyword_weight * parts["keywords"]
        likeness += config.retrieval.subject_weight * parts["subject"] + config.retrieval.tag_weight * parts["tags"]
        assert parts["similarity"] == pytest.approx(min(1.0, likeness / total))
        score = config.SIMILARITY_WEIGHT * parts["similarity"] + config.ACTIVATION_WEIGHT * parts["activation"]
        score += config.RECENCY_WEIGHT * parts["recency"] + config.retrieval.energy_weight * parts["energy"]
        assert memory.score == pytest.approx(score)
        assert parts["energy"] == pytest.approx(1.0 if config.retrieval.energy_weight else 0.0)
        idle = (clock() - memory.node.last_accessed) / timedelta(days=1)
        assert parts["recency"] == pytest.approx(0.5 ** (idle / 30) if config.RECENCY_WEIGHT else 0.0)
        assert parts["tags"] == 0.5 * bool(memory.node.found.times)
    assert [(m.score, m.id) for m in recall] == [
        (m.score, m.id) for m in sorted(recall, key=lambda m: (-m.score, m.id))
    ]
    assert retriever.recall("1 0", top_n=20).memories == recall.memories
    for count in (1, 3):
        assert retriever.recall("1 0", top_n=count).ids == recall.ids[:count]


@given(
    drawn_nodes,
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from([EdgeType.SEQ, EdgeType.CAUSE]))),
    weightings,
    st.sampled_from(["gated", "classic"]),
    st.booleans(),
)
def test_contributions_add_up_to_the_score_and_flows_to_the_activation(
    drawn: list[tuple[str, list[float] | None, dict[str, object], int]],
    links: list[tuple[int, int, EdgeType]],
    weights: dict[str, float],
    mode: str,
    keeps: object,
) -> None:
    store = GraphStore()
    for number, (content, vector, about, _) in enumerate(drawn):
        store.add_node(MemoryNode(f"n{number}", content, embedding=vector, **about))  # type: ignore[arg-type]
    for source, target, kind in links:
        if source != target and max(source, target) < len(drawn):
            store.add_edge(f"n{source}", f"n{target}", kind, 0.5)
    changes = {**weights, "retrieval.switches.keep_best_first": keeps, "TOP_K_ANCHORS": 3}
    recall = _retriever(store, ACTIVATION=mode, **changes).recall("1 0", top_n=3)
    starts = {*recall.ids, *dict(recall.anchors)}
    assert set(recall.relays) == {flow.source_id for memory in recall for flow in memory.flows} - starts
    assert all(flow.target_id == name for name, flows in recall.relays.items() for flow in flows)
    assert all(recall.relays.values())
    for memory in recall:
        assert math.fsum(memory.contributions.values()) == pytest.approx(memory.score, rel=1e-9, abs=1e-9)
        arrived = math.fsum(flow.flow for flow in memory.flows)
        assert arrived == pytest.approx(memory.parts["activation"], rel=1e-9, abs=1e-9)
        assert all(flow.target_id == memory.id and flow.flow > 0 for flow in memory.flows)
        weight = 1.0 if mode == "classic" else weights["ACTIVATION_WEIGHT"]
        assert memory.contributions["activation"] == pytest.approx(weight * arrived)
        assert set(memory.contributions) == (
            {"start", "activation"}
            if mode == "classic"
            else {"similarity", "activation", "recency", "energy", "time", "held_back"}
        )
        held_back = memory.contributions.get("held_back", 0.0)
        assert held_back <= 0.0 if keeps else held_back == 0.0
        if memory.path:
            last = max(memory.path[-1:], key=lambda step: step.flow)
            assert any(flow.edge == last.edge and flow.flow >= last.flow * (1 - 1e-9) for flow in memory.flows)


def test_a_score_that_the_best_match_holds_back_says_how_much() -> None:
    store = GraphStore()
    for name, cosine in {"best": 0.9, "linked": 0.5}.items():
        store.add_node(MemoryNode(name, name, embedding=[cosine, (1 - cosine**2) ** 0.5]))
    store.add_edge("best", "linked", EdgeType.SEQ, 1.0)
    best, linked = _retriever(store, TOP_K_ANCHORS=1, MAX_HOPS=1, ACTIVATION_WEIGHT=4.0).recall("1 0")
    assert (best.id, linked.score) == ("best", best.score)
    assert linked.contributions["held_back"] == pytest.approx(
        best.score - linked.parts["similarity"] - 4.0 * linked.parts["activation"] - 0.05 * linked.parts["energy"]
    )
    (flow,) = linked.flows
    assert (flow.source_id, flow.type, flow.hop) == ("best", EdgeType.SEQ, 1)


def test_what_was_used_lately_ranks_higher_and_fades_by_half_lives() -> None:
    clock = ManualClock()
    store = GraphStore()
    for name, days in {"a": 20, "b": 0, "c": 10}.items():
        used = clock() - timedelta(days=days)
        store.add_node(MemoryNode(name, "text", embedding=[1.0, 0.0], last_accessed=used))
    config = MemoryConfig(RECENCY_WEIGHT=0.5, retrieval=RetrievalSettings(recency_half_life_days=10.0))
    retriever = NeuroRetriever(store, config, embedder=Compass(), kernel_source=UniformKernelSource(), clock=clock)
    recall = retriever.recall("1 0")
    assert recall.ids == ("b", "c", "a")
    assert [memory.parts["recency"] for memory in recall] == [1.0, 0.5, 0.25]
    clock.advance(timedelta(days=10))
    assert [memory.parts["recency"] for memory in retriever.recall("1 0")] == [0.5, 0.25, 0.125]
    clock.advance(timedelta(days=-30))
    # A clock that went backwards makes no memory newer than new.
    assert max(memory.parts["recency"] for memory in retriever.recall("1 0")) == 1.0


def test_a_memory_that_was_recalled_is_recent_again() -> None:
    config = MemoryConfig(
        storage="memory",
        embedding_name="hash",
        RECENCY_WEIGHT=5.0,
        retrieval=RetrievalSettings(recency_half_life_days=1.0),
    )
    clock = ManualClock()
    with NeuroGraphMemory(config, parts=compose.build(config, clock)) as memory:
        memory.add_documents(["The heron stood.", "A stone lay there."], progress=False)
        clock.advance(timedelta(days=60))
        assert memory.retrieve("heron", top_n=1) == ["The heron stood."]
        memory.flush()
        assert memory.retrieve("stone", top_n=1) == ["The heron stood."]


def test_classic_anchors_go_by_cosine_alone() -> None:
    store = GraphStore()
    store.add_node(MemoryNode("meant", "other words", embedding=[0.9, 0.436]))
    store.add_node(MemoryNode("said", "1 0", embedding=[0.8, 0.6], title="1 0", speaker="0"))
    store.add_node(MemoryNode("textual", "1 0"))
    classic = _retriever(store, ACTIVATION="classic", TOP_K_ANCHORS=2).recall("1 0", top_n=3)
    assert dict(classic.anchors) == pytest.approx({"meant": 0.9, "said": 0.8}, abs=1e-3)
    assert classic.ids == ("meant", "said")
    assert [memory.score for memory in classic] == [memory.parts["start"] for memory in classic]
    assert _retriever(store, ACTIVATION="gated", TOP_K_ANCHORS=1).recall("1 0").anchors[0][0] == "said"


def test_a_uniform_kernel_takes_the_place_of_the_kernel_source(store: GraphStore) -> None:
    for uniform, expected in ((True, Kernel()), (False, _Timely().generate("?", np.empty(0, dtype=np.float32)))):
        config = MemoryConfig(retrieval=RetrievalSettings(switches=RetrievalSwitches(uniform_kernel=uniform)))
        retriever = NeuroRetriever(store, config, embedder=Compass(), kernel_source=_Timely())
        assert retriever.recall("1 0").kernel == expected


@pytest.mark.parametrize(
    "switch", [{"retrieval.gate_exponent": 0, "retrieval.selectivity": 0}, {"retrieval.gate_exponent": 0}]
)
def test_a_gate_that_is_off_lets_activation_go_where_the_question_does_not_point(switch: dict[str, object]) -> None:
    store = GraphStore()
    for name, vector in {"near": [1.0, 0.0], "like": [0.8, 0.6], "away": [-1.0, 0.0]}.items():
        store.add_node(MemoryNode(name, "text", embedding=vector))
    for name in ("like", "away"):
        store.add_edge("near", name, EdgeType.SEQ, 1.0)
    settings = {"TOP_K_ANCHORS": 1, "MAX_HOPS": 1}
    gated = {m.id: m.parts["activation"] for m in _retriever(store, **settings).recall("1 0")}
    free = {m.id: m.parts["activation"] for m in _retriever(store, **settings, **switch).recall("1 0")}
    assert gated["away"] == 0.0 < gated["like"]
    assert free["away"] == free["like"] > 0


@pytest.mark.parametrize("mode", ["classic", "gated"])
def test_recall_while_another_thread_adds_and_removes(mode: str) -> None:
    config = MemoryConfig(
        storage="memory", embedding_name="hash", ACTIVATION=mode, indexing=IndexingSettings(batch_size=2)
    )
    failures: list[BaseException] = []
    with NeuroGraphMemory(config) as memory:
        memory.add_document("The heron stood by the stone.", title="Heron")

        def add() -> None:
            try:
                for number in range(30):
                    memory.add_document(f"Heron number {number} met heron {number - 1}.", title=f"Heron {number}")
            except BaseException as error:
                failures.append(error)
                raise

        thread = threading.Thread(target=add)
        thread.start()
        while thread.is_alive():
            recall = memory.recall("Which heron stood by the stone?", top_n=5)
            assert len(set(recall.ids)) == len(recall) > 0
        thread.join()
        assert not failures
        assert len(memory.recall("heron", top_n=31)) == 31


def test_activation_is_divided_by_the_subjects_a_question_names() -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash", ACTIVATION_WEIGHT=4.0)
    texts = {
        "Ada Lindt": "A painter of Lisbon who kept bees.",
        "Boris Kray": "A painter of Riga who kept bees.",
        "Bees in art": "Ada Lindt and Boris Kray are both in the book, which Ada Lindt began.",
    }
    with NeuroGraphMemory(config) as memory:
        memory.add_documents([{"title": title, "text": text} for title, text in texts.items()], progress=False)
        parts = compose.build(config)
        switched = NeuroRetriever(
            memory.store,
            config.replace(retrieval={"switches": {"named_first": False}}),
            embedder=parts.embedder,
            kernel_source=parts.kernel_source,
        )
        for question, named in (("Did Ada Lindt and Boris Kray paint?", 2), ("Did Ada Lindt paint?", 1), ("Bees?", 1)):
            whole = {recalled.id: recalled.parts["activation"] for recalled in switched.recall(question)}
            for recalled in memory.recall(question):
                assert recalled.parts["activation"] == pytest.approx(whole[recalled.id] / named)


def test_a_memory_removed_while_a_question_is_answered_is_left_out(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyword_rows = store.keyword_rows

    def remove_and_search(*arguments: object) -> tuple[Rows, NDArray[np.float64]]:
        # The view of the recall is older, and vector search has found the node in it.
        if store.has_node("other"):
            store.remove_node("other")
        return keyword_rows(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "keyword_rows", remove_and_search)
    assert set(_retriever(store).recall("1 0", top_n=4).ids) == {"near", "linked", "far"}
