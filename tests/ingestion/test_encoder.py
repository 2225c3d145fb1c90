"""The encoder: sentiment, place, judgements of a language model, and temporal edges."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from neurogated import EdgeType, GraphStore, IngestionEngine, MemoryConfig, NeuroGraphMemory
from neurogated.core.turns import place_of
from neurogated.embedding.registry import HashEmbedder
from neurogated.errors import LLMError
from neurogated.ingestion.importance import LLMImportanceJudge, OfflineImportanceJudge, Remark
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.session.runtime import Parts


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
