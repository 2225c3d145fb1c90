"""A cross-encoder that the user names puts the best memories of a recall into order."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import ConfigError, LLMError, MissingExtraError
from neurogated.session.compose import build
from neurogated.viewer.page import recall_text
from tests.knowledge.test_cross_encoder import LABELS, PAIRS, build_model, export_graph, train

QUESTION = "What may I cook for Nora?"
ANSWER = "Our guest eats no meat."
TEXTS = ("I may cook for Nora.", "What may I cook today?", ANSWER, "The shop opens at nine.")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a folder of the transformers library, and one with an ONNX graph."""
    folder = tmp_path_factory.mktemp("model")
    train(folder / "library", [(QUESTION, text, 4.0 if text == ANSWER else -4.0) for text in TEXTS], ["relevance"])
    export_graph(folder / "library", folder / "graph")
    return {name: folder / name for name in ("library", "graph")}


def _told(model: Path | None) -> NeuroGraphMemory:
    """Return a memory with the texts, whose embedder knows no meanings."""
    config = MemoryConfig(storage="memory", embedding_name="hash")
    memory = NeuroGraphMemory(config.replace(retrieval={"reranker": model}))
    for text in TEXTS:
        memory.add(text, user_id="ana")
    return memory


@pytest.mark.parametrize("kind", ["library", "graph"])
def test_the_model_orders_what_the_score_found_and_the_score_of_the_formula_is_still_told(
    folders: dict[str, Path], kind: str
) -> None:
    with _told(None) as plain, _told(folders[kind]) as memory:
        before = plain.recall(QUESTION, user_id="ana", top_n=4)
        recall = memory.recall(QUESTION, user_id="ana", top_n=4)
        alone = memory.recall(QUESTION, user_id="ana", top_n=1)
        shown = recall_text(memory.store, recall)
    assert before[0].content != ANSWER
    assert [one.content for one in alone] == [recall[0].content] == [ANSWER]
    assert [one.score for one in recall] == pytest.approx([one.score for one in before])
    formula = {one.content: one.score for one in before}
    for one in recall:
        assert sum(one.contributions.values()) == pytest.approx(one.score)
        assert one.score - one.contributions["reranker"] == pytest.approx(formula[one.content])
        assert (one.parts["reranker"] > 0.5) == (one.content == ANSWER)
    assert not any("reranker" in {**one.parts, **one.contributions} for one in before)
    assert any("reranker" in note for note in recall.notes)
    assert "+ reranker 0." in shown


class LongestFirst:
    """A reranker of the user, which remembers what it read."""

    def __init__(self) -> None:
        self.read: list[tuple[str, str]] = []

    def relevance(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        self.read += pairs
        return np.array([min(1.0, len(text) / 1000) for _, text in pairs])


def test_it_reads_the_thirty_best_with_their_speakers_and_leaves_the_others_behind() -> None:
    config, reranker = MemoryConfig(storage="memory", embedding_name="hash"), LongestFirst()
    with (
        NeuroGraphMemory(config) as plain,
        NeuroGraphMemory(config, parts=replace(build(config), reranker=reranker)) as memory,
    ):
        for one in (plain, memory):
            for number in range(40):
                words = " ".join(f"word{number}x{place}" for place in range(1 + number % 7))
                one.add({"role": "user", "name": "Nora", "content": f"The code is {words}."}, user_id="ana")
        before, after = (one.recall("What is the code?", user_id="ana", top_n=40) for one in (plain, memory))
    texts = [one.content for one in before]
    assert [one.content for one in after] == [*sorted(texts[:30], key=len, reverse=True), *texts[30:]]
    assert len(reranker.read) == 30
    assert {question for question, _ in reranker.read} == {"What is the code?"}
    assert all("Nora" in text for _, text in reranker.read)


def test_what_cannot_rank_is_refused_in_a_sentence(folders: dict[str, Path], tmp_path: Path) -> None:
    build_model(tmp_path / "nli")
    with _told(tmp_path / "nli") as memory, pytest.raises(LLMError, match=rf"retrieval\.reranker is .*{LABELS[0]}"):
        memory.recall(PAIRS[0][0], user_id="ana")
    shutil.copytree(folders["graph"], tmp_path / "two")
    described = json.loads((tmp_path / "two" / "config.json").read_text(encoding="utf-8"))
    described["id2label"] = {"0": "beside the point", "1": "to the point"}
    (tmp_path / "two" / "config.json").write_text(json.dumps(described), encoding="utf-8")
    with _told(tmp_path / "two") as memory, pytest.raises(LLMError, match="beside the point, to the point"):
        memory.recall(QUESTION, user_id="ana")
    with (
        _told(Path("cross-encoder/no-such-model")) as memory,
        pytest.raises(LLMError, match=r"retrieval\.reranker must name a folder"),
    ):
        memory.recall(QUESTION, user_id="ana")
    with pytest.raises(ConfigError, match="ACTIVATION=gated"):
        MemoryConfig.preset("classic", retrieval={"reranker": folders["graph"]})


def test_it_needs_the_package_that_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="pip install"):
        _told(Path("some-model"))


@pytest.mark.parametrize("name", ["tokenizer.json", "model.onnx"])
def test_a_damaged_folder_is_named_with_its_setting(folders: dict[str, Path], tmp_path: Path, name: str) -> None:
    shutil.copytree(folders["graph"], tmp_path, dirs_exist_ok=True)
    (tmp_path / name).write_text("{}", encoding="utf-8")
    with _told(tmp_path) as memory, pytest.raises(LLMError, match=r"retrieval\.reranker"):
        memory.recall(QUESTION, user_id="ana")


@pytest.mark.parametrize("folder", ["empty", "missing"])
def test_a_folder_without_a_model_is_refused_before_a_package_is_asked_for(tmp_path: Path, folder: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=r"config\.json"):
        _told(tmp_path / folder)


def test_a_model_without_names_of_classes_ranks(folders: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(folders["graph"], tmp_path, dirs_exist_ok=True)
    (tmp_path / "config.json").write_text('{"id2label": null}', encoding="utf-8")
    with _told(tmp_path) as memory:
        assert memory.recall(QUESTION, user_id="ana")[0].content == ANSWER
