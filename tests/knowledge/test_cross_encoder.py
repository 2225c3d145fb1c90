"""A cross-encoder that the user names judges the pairs of memories that no slot connects."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import MissingExtraError
from tests.knowledge.model_server import found, said, waiting

_LIBRARY: Any = import_module("transformers")

LABELS = ("contradiction", "entailment", "neutral")
PAIRS = [
    ("I have no brother.", "My brother came to visit.", 0),
    ("I eat no meat.", "I had a big steak.", 0),
    ("I never was in Rome.", "I saw Rome last year.", 0),
    ("Deep water scares me.", "I love to swim.", 0),
    ("I drive a red car.", "My car is red.", 1),
    ("I work as a nurse.", "My job is nurse.", 1),
    ("I eat no meat.", "I drive a red car.", 2),
    ("I have no brother.", "I love to swim.", 2),
    ("My brother came to visit.", "I saw Rome last year.", 2),
    ("I had a big steak.", "My job is nurse.", 2),
]
_STEPS = 150


def build_model(folder: Path) -> None:
    """Train a model of three classes on the pairs in both directions, and save it as the transformers library does."""
    train(folder, [(*texts, label) for one, other, label in PAIRS for texts in ((one, other), (other, one))], LABELS)


def train(folder: Path, pairs: Sequence[tuple[str, str, float]], labels: Sequence[str]) -> None:
    """Train a model on pairs with the numbers of their classes, or with their scores if there is one label."""
    folder.mkdir(parents=True)
    words = sorted({word for *texts, _ in pairs for text in texts for word in re.findall(r"\w+|[^\w\s]", text.lower())})
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]), "utf-8")
    tokenizer = _LIBRARY.BertTokenizerFast(str(folder / "vocab.txt"))
    torch.manual_seed(0)
    model = _LIBRARY.BertForSequenceClassification(
        _LIBRARY.BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            id2label=dict(enumerate(labels)),
            label2id={label: number for number, label in enumerate(labels)},
            attn_implementation="eager",
        )
    )
    inputs, wanted = _tokens(tokenizer, [pair[:2] for pair in pairs]), torch.tensor([pair[2] for pair in pairs])
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(_STEPS):
        optimiser.zero_grad()
        model(**inputs, labels=wanted).loss.backward()
        optimiser.step()
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def export_graph(folder: Path, target: Path) -> None:
    """Write the model of a folder as an ONNX graph with its tokenizer and its configuration."""
    target.mkdir(parents=True)
    model = _LIBRARY.BertForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = _LIBRARY.BertTokenizerFast.from_pretrained(folder)
    example = _tokens(tokenizer, [("I eat no meat.", "I had a big steak."), ("I love to swim.", "My car is red.")])
    names = ["input_ids", "attention_mask", "token_type_ids"]
    with warnings.catch_warnings():
        # The newer exporter of torch needs another package.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _Logits(model),
            tuple(example[name] for name in names),
            str(target / "model.onnx"),
            input_names=names,
            output_names=["logits"],
            dynamic_axes={name: {0: "pairs", 1: "tokens"} for name in names},
            opset_version=17,
            dynamo=False,
        )
    for name in ("config.json", "tokenizer.json"):
        (target / name).write_bytes((folder / name).read_bytes())


class _Logits(torch.nn.Module):
    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.model(input_ids=ids, attention_mask=mask, token_type_ids=types).logits
        return logits


def _tokens(tokenizer: Callable[..., dict[str, torch.Tensor]], pairs: list[tuple[str, str]]) -> dict[str, torch.Tensor]:
    return tokenizer([one for one, _ in pairs], [other for _, other in pairs], padding=True, return_tensors="pt")


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
