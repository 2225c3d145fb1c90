"""A cross-encoder that the user names judges the pairs of memories that no slot connects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import MissingExtraError
from tests.knowledge.model_server import found, said, waiting
from tests.knowledge.nli_model import PAIRS, build_model, export_graph


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a folder of the transformers library, and one with an ONNX graph."""
    folder = tmp_path_factory.mktemp("model")
    build_model(folder / "library")
    export_graph(folder / "library", folder / "graph")
    return {name: folder / name for name in ("library", "graph")}


@pytest.fixture(scope="module", params=["library", "graph"])
def judged(request: pytest.FixtureRequest, folders: dict[str, Path]) -> Iterator[NeuroGraphMemory]:
    with _opened(folders[request.param]) as memory:
        yield memory


def _settings(folder: Path) -> MemoryConfig:
    values = {
        "storage": "memory",
        "llm.use": "off",
        "llm.wait": True,
        "metabolism.knowledge": f"claims, slots, pairs={folder}",
    }
    return MemoryConfig.from_mapping(values)


def _opened(folder: Path) -> NeuroGraphMemory:
    return NeuroGraphMemory(_settings(folder))


@pytest.mark.parametrize(("earlier", "later", "label"), PAIRS)
def test_the_model_finds_contradictions_and_nothing_else(
    judged: NeuroGraphMemory, earlier: str, later: str, label: int
) -> None:
    user = f"{earlier} {later}"
    said(judged, earlier, user=user)
    said(judged, later, 3, user=user)
    conflicts = found(judged, user)
    assert len(conflicts) == (label == 0)
    assert all(one.question for one in conflicts)
    assert waiting(judged) == 0


def test_a_contradiction_without_a_common_word_is_an_open_conflict(judged: NeuroGraphMemory) -> None:
    sides = said(judged, PAIRS[1][0]), said(judged, PAIRS[1][1], 3)
    (conflict,) = found(judged)
    assert (conflict.sides, conflict.rule, conflict.status) == (sides, "model", "open")


def _relabelled(folder: Path, target: Path, *labels: str) -> Path:
    """Copy a model and give its classes other names."""
    for file in folder.iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    config = json.loads((target / "config.json").read_text("utf-8"))
    config["id2label"] = {str(place): label for place, label in enumerate(labels)}
    (target / "config.json").write_text(json.dumps(config), "utf-8")
    return target


def test_the_names_of_the_classes_decide_and_not_their_order(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = _relabelled(folders["graph"], tmp_path, "NEUTRAL", "Entailment", "CONTRADICTION")
    with _opened(folder) as memory:
        for pair, (earlier, later, _) in enumerate(PAIRS):
            said(memory, earlier, user=f"{pair}")
            said(memory, later, 3, user=f"{pair}")
        contested = {label for pair, (_, _, label) in enumerate(PAIRS) if found(memory, f"{pair}")}
    assert contested == {2}


def test_a_model_with_other_classes_settles_nothing_and_the_log_says_why(
    folders: dict[str, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    earlier, later, _ = PAIRS[1]
    with _opened(_relabelled(folders["graph"], tmp_path, "LABEL_0", "LABEL_1", "LABEL_2")) as memory:
        said(memory, earlier)
        said(memory, later, 3)
        assert (found(memory), waiting(memory)) == ([], 1)
    assert "id2label" in caplog.text


def test_a_name_that_is_not_on_this_machine_is_not_downloaded(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    earlier, later, _ = PAIRS[1]
    with _opened(Path("cross-encoder/no-such-model")) as memory:
        said(memory, earlier)
        said(memory, later, 3)
        assert (found(memory), waiting(memory)) == ([], 1)
    assert "cross-encoder/no-such-model" in caplog.text


def test_a_folder_with_a_graph_needs_the_package_of_its_tokenizer(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="pip install"):
        _opened(folders["graph"])
