"""The embedding model in this package. It runs without torch."""

from __future__ import annotations

import json
from pathlib import Path

from neurogated.embedding.exported_model import ExportedModel, ModelDescription
from neurogated.embedding.runtimes import Runtime
from neurogated.embedding.word_pieces import WordPieceTokenizer

__all__ = ["BUNDLED_FOLDER", "BUNDLED_MODEL", "BUNDLED_NAMES", "DESCRIPTION_FILE", "VOCABULARY_FILE", "load_bundled"]

BUNDLED_MODEL = "all-MiniLM-L6-v2"
BUNDLED_NAMES = (BUNDLED_MODEL, f"sentence-transformers/{BUNDLED_MODEL}")
BUNDLED_FOLDER = Path(__file__).with_name(BUNDLED_MODEL)
DESCRIPTION_FILE = "description.json"
VOCABULARY_FILE = "vocab.txt"


def load_bundled(
    runtime: Runtime, batch_size: int, *, exact: bool, folder: Path = BUNDLED_FOLDER
) -> ExportedModel | None:
    """Return the bundled model, or None if it was not exported for `runtime`.

    Args:
        runtime: the runtime of the model.
        batch_size: texts in a batch.
        exact: whether to compute in single precision even if another precision is faster.
        folder: the folder that `tools/bundle_model.py` wrote.

    Raises:
        OSError: a file cannot be read.
        ExportError: the runtime cannot load the model.
    """
    if not all((folder / name).is_file() for name in runtime.files):
        return None
    description = ModelDescription.from_dict(json.loads((folder / DESCRIPTION_FILE).read_text(encoding="utf-8")))
    tokenizer = WordPieceTokenizer(folder / VOCABULARY_FILE)
    model = ExportedModel(description, tokenizer, runtime.load(folder, exact=exact), batch_size)
    model.embed([""], "document")
    return model
