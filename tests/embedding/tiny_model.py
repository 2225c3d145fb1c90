"""A small model of the sentence-transformers library that is created and exported in a moment."""

import importlib
import string
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from transformers import BertConfig, BertModel

WIDTH = 16
LONGEST = 64
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "doctor", "patient", "question", "passage", ":", "."]


def make_tiny_model(folder: Path) -> Path:
    """Write the model into `folder` and return its path."""
    parts, model = folder / "parts", folder / "model"
    parts.mkdir()
    letters = [*string.ascii_lowercase, *(f"##{letter}" for letter in string.ascii_lowercase)]
    (parts / "vocab.txt").write_text("\n".join([*WORDS, *letters]), encoding="utf-8")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(WORDS) + len(letters),
        hidden_size=WIDTH,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=WIDTH,
        max_position_embeddings=LONGEST,
    )
    BertModel(config).save_pretrained(parts)
    # Only some versions know its type names.
    tokenizer = importlib.import_module("transformers").BertTokenizerFast
    tokenizer(str(parts / "vocab.txt")).save_pretrained(parts)
    transformer = Transformer(str(parts), max_seq_length=LONGEST)
    SentenceTransformer(modules=[transformer, Pooling(WIDTH)], device="cpu").save(str(model))
    return model
