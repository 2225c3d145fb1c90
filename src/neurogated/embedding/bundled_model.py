"""The bundled model all-MiniLM-L6-v2, with its WordPiece tokenizer in pure Python.

The tokenizers library would add a dozen dependencies.
"""

from __future__ import annotations

import json
import re
import threading
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from neurogated.core.contexts import remembered
from neurogated.core.forking import InheritedLock, bind_to_process
from neurogated.embedding.exported_model import LOADING, ExportedModel, has_accelerator, load_graph
from neurogated.embedding.language_watch import LanguageWatch
from neurogated.embedding.sentence_transformers_embedder import SentenceTransformersEmbedder

_FIRST, _LAST, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
# The name of a special token in a text becomes that token.
_SPECIAL = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")
_CONTINUED = "##"
_LONGEST_WORD = 100
_REMEMBERED = 2**16
_ASCII_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_REMOVED = frozenset({"Cc", "Cf", "Co", "Cs", "Mn"})
_SPACES = frozenset("\t\n\r")
# Each character of these blocks is a word. The reference implementation starts one block at 2B920; Unicode has 2B820.
_HAN = tuple(
    range(first, last + 1)
    for first, last in (
        (0x4E00, 0x9FFF),
        (0x3400, 0x4DBF),
        (0x20000, 0x2A6DF),
        (0x2A700, 0x2B73F),
        (0x2B740, 0x2B81F),
        (0x2B920, 0x2CEAF),
        (0xF900, 0xFAFF),
        (0x2F800, 0x2FA1F),
    )
)


class WordPieceTokenizer:
    """The tokenizer of an uncased BERT model (Devlin et al., 2019).

    It lowers case and removes accents. It splits at spaces, around punctuation and around Han characters. It cuts each
    word from the left into the longest pieces of the vocabulary. The tokenizers library returns the same tokens, except
    for characters that Unicode has changed since the release of that library's tables.
    """

    def __init__(self, vocabulary: Path) -> None:
        """Read a vocabulary with one piece on each line. Raises OSError."""
        pieces = vocabulary.read_text(encoding="utf-8").rstrip("\n").split("\n")
        self._ids = {piece: number for number, piece in enumerate(pieces)}
        self._word = remembered(_REMEMBERED)(self._cut)

    def encode(self, texts: Sequence[str], max_tokens: int) -> list[list[int]]:
        """Return at most `max_tokens` tokens of each text, including the special tokens at both ends."""
        first, last = self._ids[_FIRST], self._ids[_LAST]
        return [[first, *self._tokens(text)[: max_tokens - 2], last] for text in texts]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each whole text, without special tokens."""
        return [len(self._tokens(text)) for text in texts]

    def _tokens(self, text: str) -> list[int]:
        tokens: list[int] = []
        for part in _SPECIAL.split(text):
            if _SPECIAL.fullmatch(part):
                tokens.append(self._ids[part])
                continue
            for word in unicodedata.normalize("NFD", part).translate(_CHARACTERS).split():
                tokens += self._word(word)
        return tokens

    def _cut(self, word: str) -> list[int]:
        """Return the pieces of a word, or the unknown token if the word is too long or has no pieces."""
        if (whole := self._ids.get(word)) is not None:
            return [whole]
        pieces: list[int] = []
        begin = 0 if len(word) <= _LONGEST_WORD else len(word)
        while begin < len(word):
            prefix = _CONTINUED if begin else ""
            for end in range(len(word), begin, -1):
                piece = self._ids.get(prefix + word[begin:end])
                if piece is not None:
                    pieces.append(piece)
                    begin = end
                    break
            else:
                return [self._ids[_UNKNOWN]]
        return pieces or [self._ids[_UNKNOWN]]


class _Characters(dict[int, str]):
    """The replacement of each decomposed character for `str.translate`, computed at its first lookup."""

    def __missing__(self, code: int) -> str:
        self[code] = _replacement(chr(code))
        return self[code]


def _replacement(character: str) -> str:
    category = unicodedata.category(character)
    if character in _SPACES or category.startswith("Z"):
        return " "
    if category in _REMOVED or character == "\N{REPLACEMENT CHARACTER}":
        return ""
    alone = character in _ASCII_PUNCTUATION or category.startswith("P") or any(ord(character) in han for han in _HAN)
    return f" {character} " if alone else character.lower()


_CHARACTERS = _Characters()


BUNDLED_FOLDER = Path(__file__).with_name("all-MiniLM-L6-v2")
GRAPH_FILE = "model.xml"
DESCRIPTION_FILE = "description.json"
VOCABULARY_FILE = "vocab.txt"

# Texts of one width in a batch, measured in docs/adr/0013.
_BATCH_SIZE = 8


def load_bundled(*, exact: bool, folder: Path = BUNDLED_FOLDER) -> ExportedModel:
    """Return the bundled model after a first inference; the caller holds `LOADING`.

    Args:
        exact: whether to compute in single precision even if another precision is faster.
        folder: the folder that `tools/bundle_model.py` wrote.

    Raises:
        OSError: a file cannot be read.
        EmbeddingError: OpenVINO cannot load the model.
    """
    sizes = json.loads((folder / DESCRIPTION_FILE).read_text(encoding="utf-8"))
    tokenizer, graph = WordPieceTokenizer(folder / VOCABULARY_FILE), load_graph(folder / GRAPH_FILE, exact=exact)
    model = ExportedModel(tokenizer, graph, **sizes, batch_size=_BATCH_SIZE)
    model.embed([""])
    return model


class BundledEmbedder:
    """The bundled model on the CPU; torch runs its original on a GPU. The first text loads it.

    The log warns once if most texts are not in English.
    """

    def __init__(self, by_torch: SentenceTransformersEmbedder, *, exact: bool = False, on_cpu: bool = False) -> None:
        """Describe the model. Nothing is loaded yet.

        Args:
            by_torch: the original, with the configured prompts.
            exact: whether to compute in single precision even if another precision is faster.
            on_cpu: whether to use the CPU even if a GPU is available.
        """
        self._by_torch = by_torch
        self.name = by_torch.name
        """Name of the model and its prompts. It does not depend on the runtime."""
        self._languages = LanguageWatch(self.name)
        self._exact = exact
        self._on_cpu = on_cpu
        self._lock = threading.Lock()
        self._chosen = False
        self._exported: ExportedModel | None = None
        bind_to_process(self)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - a native library cannot say whether it rests
        """Refuse to run a model in a forked child, because the runtime's threads exist only in the parent."""
        if self._chosen or self._lock.locked():
            self._lock = cast("threading.Lock", InheritedLock())

    @property
    def dimension(self) -> int:
        """Length of every vector; loads the model."""
        exported = self._export()
        return self._by_torch.dimension if exported is None else exported.dimension

    @property
    def backend(self) -> str:
        """The runtime of the model: "openvino" or "torch"; loads the model."""
        return "torch" if self._export() is None else "openvino"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) unit vectors for passages.

        Raises:
            EmbeddingError: the model cannot be loaded.
        """
        self._languages.count(texts)
        exported = self._export()
        if exported is None:
            return self._by_torch.embed_documents(texts)
        return exported.embed(texts, self._by_torch.prompts["document"])

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) unit vectors for questions. Raises the errors of `embed_documents`."""
        exported = self._export()
        if exported is None:
            return self._by_torch.embed_queries(texts)
        return exported.embed(texts, self._by_torch.prompts["query"])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of the model's tokens of each text, without special tokens."""
        if not texts:
            return []
        exported = self._export()
        return self._by_torch.count_tokens(texts) if exported is None else exported.count_tokens(texts)

    def close(self) -> None:
        """Release the model."""
        with self._lock:
            self._chosen, self._exported = False, None
            self._by_torch.close()

    def _export(self) -> ExportedModel | None:
        """Return the exported model, None if torch runs the model."""
        with self._lock:
            if not self._chosen:
                with LOADING:
                    use_gpu = not self._on_cpu and has_accelerator()
                    self._exported = None if use_gpu else load_bundled(exact=self._exact)
                self._chosen = True
            return self._exported
