"""Small models of pairs of sentences, trained in the test: they know the pairs of their training and no others."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

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
