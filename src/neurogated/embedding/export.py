"""Export of a sentence-transformers model, and the check that both compute the same vectors."""

from __future__ import annotations

import contextlib
import importlib
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from neurogated.embedding.exported_model import INPUTS, ExportedModel, ModelDescription
from neurogated.embedding.library_tokenizer import TOKENIZER_FILE
from neurogated.embedding.runtimes import ExportError, Runtime
from neurogated.embedding.vectors import unit_vectors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["export_model", "verify"]

# Below this cosine, rankings begin to differ.
_MIN_COSINE = 0.999
_ROLES = {"query": ("query",), "document": ("document", "passage", "corpus")}
_EXAMPLE = ["A surgeon operated on the patient.", "Why?"]
# Texts of different lengths: one exceeds the limits of models, and one is empty.
_PROBES = [*_EXAMPLE, "", "我愛你。", "Stock prices fell on Monday, and nobody knew why. " * 200, "x"]


class _Pipeline(torch.nn.Module):
    """All modules of the model, including pooling, as one function of tensors."""

    def __init__(self, model: SentenceTransformer) -> None:
        super().__init__()
        self.steps = torch.nn.ModuleList(list(model.children()))

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        token_type_ids: torch.Tensor | None = None,
    ) -> torch.Tensor:
        features = {"input_ids": input_ids, "attention_mask": attention_mask}
        if token_type_ids is not None:
            features["token_type_ids"] = token_type_ids
        for step in self.steps:
            features = step(features)
        return features["sentence_embedding"]


def export_model(model: SentenceTransformer, runtime: Runtime, folder: Path) -> ModelDescription:
    """Write the export and the tokenizer of a model on the CPU to `folder`.

    Raises:
        ExportError: a part of the model cannot be exported.
    """
    backend = getattr(model.tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ExportError(f"its tokenizer, {type(model.tokenizer).__name__}, exists in Python only")
    if any(getattr(step, "include_prompt", True) is False for step in model.children()):
        raise ExportError("its pooling excludes the prompt")
    if not model.max_seq_length:
        raise ExportError("it has no maximum text length")
    encoded = model.tokenizer(_EXAMPLE, padding=True, return_tensors="pt")
    example = {name: encoded[name] for name in INPUTS if name in encoded}
    if len(example) != len(encoded) or "attention_mask" not in example:
        raise ExportError(f"it takes {', '.join(encoded)}, but only {', '.join(INPUTS)} can be exported")
    (folder / TOKENIZER_FILE).write_text(backend.to_str(), encoding="utf-8")
    with _silence(), torch.no_grad():
        runtime.export(_Pipeline(model).eval(), example, folder)
    tokenizer = model.tokenizer
    return ModelDescription(
        inputs=tuple(example),
        dimension=int(model.get_embedding_dimension() or 0),
        max_tokens=int(model.max_seq_length),
        padding={
            "input_ids": tokenizer.pad_token_id or 0,
            "attention_mask": 0,
            "token_type_ids": tokenizer.pad_token_type_id,
        },
        pads_left=tokenizer.padding_side == "left",
        prompts={role: _prompt(model, names) for role, names in _ROLES.items()},
    )


def verify(exported: ExportedModel, model: SentenceTransformer) -> None:
    """Compare an export with its model on texts of different lengths, as questions and as passages.

    Raises:
        ExportError: the vectors of a text differ.
    """
    for role, encode in (("query", model.encode_query), ("document", model.encode_document)):
        expected = unit_vectors(np.asarray(encode(list(_PROBES), show_progress_bar=False)), "the embedding model")
        cosine = float((exported.embed(_PROBES, role) * expected).sum(axis=1).min())
        if not cosine >= _MIN_COSINE:
            raise ExportError(f"the export computes other vectors than the model (cosine {cosine:.4f})")


def _prompt(model: SentenceTransformer, names: tuple[str, ...]) -> str:
    """Return the model's own prompt for texts of a role."""
    names = (*names, model.default_prompt_name) if model.default_prompt_name else names
    return next((model.prompts[name] or "" for name in names if name in model.prompts), "")


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Suppress warnings of the libraries during tracing: deprecations, and values that tracing turns into constants.

    `verify` finds out whether such constants change the vectors.
    """
    loggers = [logging.getLogger(name) for name in ("transformers", "sentence_transformers")]
    levels = [logger.level for logger in loggers]
    importlib.import_module("transformers.utils.logging")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
