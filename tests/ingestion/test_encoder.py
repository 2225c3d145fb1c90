"""What is read from a text: sentiment, place, importance, titles, names and causes, and the edges that follow."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurogated import (
    EdgeKey,
    EdgeType,
    GraphDelta,
    GraphStore,
    IngestionEngine,
    MemoryConfig,
    MemoryEdge,
    MemoryNode,
    NeuroGraphMemory,
)
from neurogated.core.energy import DORMANT_IMPORTANCE
from neurogated.core.judgements import CausalJudgement
from neurogated.core.ports import CausalJudge, EntityFinder
from neurogated.core.turns import place_of
from neurogated.embedding.registry import HashEmbedder
from neurogated.errors import LLMError
from neurogated.ingestion.analysers import LLMImportanceJudge, OfflineEntityFinder, OfflineImportanceJudge, Remark
from neurogated.ingestion.causality import OfflineCausalJudge
from neurogated.ingestion.edge_builder import UserGraphs, sequence_edges, similarity_edges
from neurogated.ingestion.titles import find_names, find_title
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.session.runtime import Parts
from neurogated.testing import ManualClock
from tests.golden import rows
from tests.ingestion.test_mentions import Bench


class Model:
    """A language model with prepared answers; it counts its calls."""

    name = "prepared"

    def __init__(self, *answers: Sequence[str] | LLMError) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def infer_json(
        self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], **_: object
    ) -> dict[str, Any]:
        assert "labels" in json.dumps(schema)
        self.asked.append(messages[-1]["content"])
        answer = self.answers.pop(0)
        if isinstance(answer, LLMError):
            raise answer
        return {"labels": list(answer)}

    def close(self) -> None:
        """Nothing is open."""


def judge_of(model: Model) -> LLMImportanceJudge:
    return LLMImportanceJudge(model, PromptTemplateManager(), MemoryConfig())


REMARKS = [Remark("I moved to Lyon.", "user", "Ann"), Remark("Great!", "user", "Ben"), Remark("Bees make honey.")]


@pytest.mark.parametrize("answer", [LLMError("away"), ["strong"], ["strong"] * 4])
def test_where_the_model_fails_the_rules_judge(answer: Sequence[str] | LLMError) -> None:
    assert judge_of(Model(answer)).judge(REMARKS) == OfflineImportanceJudge().judge(REMARKS)


@pytest.mark.parametrize(
    ("text", "names", "place"),
    [
        ("Ann met Ben in Lyon.", ("Ann", "Ben", "Lyon"), "Lyon"),
        ("Ich wohne bei Kassel.", ("Kassel",), "Kassel"),
        ("La maison est près de Quimper.", ("Quimper",), "Quimper"),
        ("Viajo a Perú desde Lima.", ("Lima",), "Lima"),
        ("我住在“成都”。", ("成都",), None),
        ("Ann likes Ben.", ("Ann", "Ben"), None),
    ],
)
def test_a_name_after_a_word_of_place_is_the_place(text: str, names: Sequence[str], place: str | None) -> None:
    assert place_of({}, text, names) == place


def test_a_graph_that_is_filled_by_hand_has_the_importance_that_the_settings_judge() -> None:
    said = "My sister died last week, and I cannot stop crying."
    by_hand, config = GraphStore(), MemoryConfig(embedding_name="hash")
    (name,) = IngestionEngine(by_hand, config).add_document(said)
    with NeuroGraphMemory(config.replace(storage="memory")) as memory:
        assert by_hand.get_node(name).importance == memory.get(*memory.add_document(said)).importance != 0.5


def test_a_new_memory_is_linked_to_the_most_energetic_active_ones_of_its_user() -> None:
    settings = {"temporal_neighbors": 1}
    parts = Parts(GraphStore(), HashEmbedder(), UniformKernelSource())
    with NeuroGraphMemory(MemoryConfig(metabolism=settings), parts=parts) as memory:  # type: ignore[arg-type]
        for text, user, importance in (
            ("An old grey heron.", "ana", 0.9),
            ("A red mill.", "ana", 0.95),
            ("A blue boat.", "ana", 0.2),
            ("A yellow bee.", "bo", 1.0),
            ("A white wall.", None, 1.0),
        ):
            memory.add(text, user_id=user, importance=importance)
        (new,) = memory.add("A green door.", user_id="ana")
        edges = [edge for edge in memory.store.all_edges() if edge.source_id == new and edge.type is EdgeType.ASSOC]
        assert [memory.get(edge.target_id).content for edge in edges] == ["A red mill."]
        assert (edges[0].weight, edges[0].relation) == (0.2, "temporal")


# Titles and other names that texts give themselves


@pytest.mark.parametrize(("text", "title"), rows(__file__, "titles"))
def test_a_header_or_a_heading_is_the_title(text: str, title: str | None) -> None:
    assert find_title(text) == title


@pytest.mark.parametrize("text", rows(__file__, "no_titles"))
def test_a_line_that_begins_no_text_is_no_title(text: str) -> None:
    assert find_title(text) is None


pieces = st.sampled_from([*"aA .,:#\n(\"'*-=1北是一的", " is a ", "Title: ", "Ada Quill", "Die ", " ist ein "])
texts = st.lists(pieces, max_size=12).map("".join)


@given(texts)
def test_a_found_title_is_in_the_text_and_is_found_again(text: str) -> None:
    names = find_names(text)
    assert names == find_names(text)
    if names:
        assert names[0] in text
        assert names[0] == find_title(text) == names[0].strip()
        assert re.search(r"[^\W\d_]", names[0])
    assert len(set(names)) == len(names)


# Finding the names in a text


@pytest.mark.parametrize(("text", "names"), rows(__file__, "entities"))
def test_the_parts_of_a_name_stay_together(text: str, names: list[str]) -> None:
    finder: EntityFinder = OfflineEntityFinder()
    assert finder.find(text) == tuple(names)


# Causes between texts, found by their words


def judge(first: str, second: str) -> CausalJudgement:
    judged: CausalJudge = OfflineCausalJudge()
    return judged.judge(first, second)


STORM = "A storm passed over the island on Sunday."


@pytest.mark.parametrize("second", rows(__file__, "causes"))
def test_an_opening_that_points_back_is_a_link(second: str) -> None:
    assert judge(STORM, second).is_causal


@pytest.mark.parametrize("second", rows(__file__, "no_causes"))
def test_a_misleading_cue_is_no_link(second: str) -> None:
    assert judge(STORM, second) == CausalJudgement(
        is_causal=False, weight=0.0, reason="no causal cue links the two texts"
    )


@given(st.text(), st.text())
def test_any_text_can_be_judged(first: str, second: str) -> None:
    assert judge(first, second) == judge(first, second)


# The texts that mention a name, and the words that a dialogue turn only quotes


def test_a_text_leads_to_the_one_whose_title_it_names() -> None:
    bench = Bench()
    bench.add(("She lives in New York City.", None), ("A city of rivers.", "New York City"))
    assert bench.named() == {("None: She lives in New York City.", "New York City: A city of rivers."): 1.0}


@pytest.mark.parametrize("title_first", [True, False])
@pytest.mark.parametrize(("text", "title"), rows(__file__, "mentions"))
def test_a_name_is_found_without_its_qualifier_in_any_order(text: str, title: str, *, title_first: bool) -> None:
    bench = Bench()
    for pair in [("Words.", title), (text, None)][:: 1 if title_first else -1]:
        bench.add(pair)
    assert bench.named() == {(f"None: {text}", f"{title}: Words."): 1.0}


FACTS = {
    "en": "I moved to Bristol in April and started at a small architecture firm there.",
    "de": "Ich bin im März nach Kassel gezogen und arbeite jetzt in einer Schreinerei.",
    "fr": "J'ai commencé mon stage chez un luthier à Mirecourt la semaine dernière.",
    "es": "Ayer firmé el contrato de mi primer piso en Zaragoza con mi hermana Lucía.",
    "zh": "我上个月搬到了成都，现在在一家设计公司上班，房子离公司三公里。",
}
SMALL_TALK = {
    "en": "Wow, that's great! How do you like it?",
    "de": "Toll, das freut mich sehr! Wie geht es dir?",
    "fr": "C'est génial, merci beaucoup ! Et toi, ça va ?",
    "es": "¡Qué bien, gracias! ¿Y tú qué tal estás?",
    "zh": "哇，真的太好了！你最近怎么样？",
}


def judged(text: str, role: str | None = None, speaker: str | None = "Ann", earlier: int = 0) -> float:
    (value,) = OfflineImportanceJudge().judge([Remark(text, role, speaker, earlier)])
    return value


def opened(tmp_path: Path, **changes: object) -> NeuroGraphMemory:
    return NeuroGraphMemory(MemoryConfig.from_mapping({"save_dir": tmp_path, "embedding_name": "hash", **changes}))


@pytest.mark.parametrize("language", FACTS)
def test_a_fact_is_more_important_than_small_talk(language: str) -> None:
    assert judged(FACTS[language]) > 0.5 > judged(SMALL_TALK[language])
    assert judged(FACTS[language], "user", None) > judged(SMALL_TALK[language], "user", None)


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_only_the_user_gives_lasting_instructions_and_speaks_of_herself(role: str) -> None:
    for text in ("Always answer me in French.", "I am allergic to nuts, and my sister is, too."):
        assert judged(text, role, None) < judged(text, "user", None)


@pytest.mark.parametrize("role", [None, "user"])
def test_facts_about_a_person_and_standing_instructions_count_and_small_talk_does_not(role: str | None) -> None:
    said = [*((text, True) for text in FACTS.values()), *rows(__file__, "important")]
    values = {text: judged(text, role, None) for text, _ in said}
    assert all(values[text] > 0.4 if is_told else values[text] < 0.3 for text, is_told in said), values


@given(
    text=st.text(max_size=300),
    role=st.sampled_from((None, "user", "assistant", "tool")),
    speaker=st.sampled_from((None, "Ann")),
    earlier=st.integers(0, 2**60),
)
@settings(deadline=None)
def test_importance_of_any_text_lies_between_0_and_1(
    text: str, role: str | None, speaker: str | None, earlier: int
) -> None:
    (value,) = OfflineImportanceJudge().judge([Remark(text, role, speaker, earlier)])
    assert 0.0 <= value <= 1.0


def test_the_callers_importance_wins_and_energy_starts_with_it(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        (mine,) = memory.add(FACTS["en"], importance=0.25, session_id="s")
        (judged_here,) = memory.add(FACTS["en"], session_id="s")
        (small,) = memory.add(SMALL_TALK["en"], session_id="s")
        nodes = [memory.get(one) for one in (mine, judged_here, small)]
    assert nodes[0].importance == 0.25
    assert nodes[1].importance > 0.5 > nodes[2].importance
    assert [node.base_energy for node in nodes] == [node.importance for node in nodes]


def test_a_job_offer_never_sleeps_and_small_talk_may() -> None:
    limit = DORMANT_IMPORTANCE
    for earlier in (0, 100_000):
        assert judged("I got a job offer from a hospital in Basel.", "user", None, earlier) > limit
        assert judged("lol", "user", None, earlier) < limit


AT = ManualClock().now


def random_vectors(seed: int, count: int) -> list[tuple[float, ...]]:
    rows = np.random.default_rng(seed).normal(size=(count, 6)).astype(np.float32)
    return [tuple(map(float, row)) for row in rows]


def make_nodes(vectors: Sequence[Sequence[float]]) -> list[MemoryNode]:
    # The names do not sort in order of addition, so the test can distinguish the two orders.
    return [
        MemoryNode(f"{(7 * number) % 15:02d}-{number}", "text", vector, last_accessed=AT, created_at=AT)
        for number, vector in enumerate(vectors)
    ]


def build(nodes: Sequence[MemoryNode], neighbors: int, cuts: Sequence[int]) -> list[MemoryEdge]:
    """Store nodes in groups that end at `cuts` and return all edges."""
    store, edges = GraphStore(), []
    borders = [0, *sorted(cut for cut in cuts if cut < len(nodes)), len(nodes)]
    for begin, end in pairwise(borders):
        group = nodes[begin:end]
        new = list(similarity_edges(group, UserGraphs(store.snapshot()).nearest, neighbors=neighbors, at=AT))
        store.apply(GraphDelta(nodes=tuple(group), edges=tuple(new), at=AT))
        edges.extend(new)
    return edges


def cosine(left: MemoryNode, right: MemoryNode) -> float:
    a, b = (list(map(float, np.asarray(node.embedding))) for node in (left, right))
    norms = math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(x * x for x in b))
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / norms if norms else 0.0


def weights(edges: Sequence[MemoryEdge]) -> dict[EdgeKey, float]:
    return {edge.key: edge.weight for edge in edges}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("neighbors", [1, 3, 30])
@pytest.mark.parametrize("cuts", [[], [1, 2, 3], [10], list(range(25))])
def test_each_node_is_linked_to_its_most_similar_predecessors(seed: int, neighbors: int, cuts: list[int]) -> None:
    nodes = make_nodes(random_vectors(seed, 25))

    edges = build(nodes, neighbors, cuts)

    expected: list[MemoryEdge] = []
    for position, node in enumerate(nodes):
        ranked = sorted(nodes[:position], key=lambda earlier, node=node: -cosine(node, earlier))  # type: ignore[misc]
        expected += [
            MemoryEdge(node.id, earlier.id, EdgeType.SIM, max(0.0, cosine(node, earlier)), created_at=AT)
            for earlier in ranked[:neighbors]
        ]
    assert weights(edges) == pytest.approx(weights(expected), abs=1e-6)
    assert len(edges) == len(expected)


@given(length=st.integers(0, 8), data=st.data())
def test_seq_edges_join_neighbours_if_one_of_the_two_is_new(length: int, data: st.DataObject) -> None:
    ids = [f"n{number}" for number in range(length)]
    new = data.draw(st.sets(st.sampled_from([*ids, "elsewhere"])))

    edges = list(sequence_edges(ids, new, at=AT))

    assert edges == [
        MemoryEdge(ids[place - 1], ids[place], EdgeType.SEQ, 1.0, created_at=AT)
        for place in range(1, length)
        if {ids[place - 1], ids[place]} & new
    ]
