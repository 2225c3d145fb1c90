"""The bundled model all-MiniLM-L6-v2, with its WordPiece tokenizer in pure Python.

The tokenizers library would add a dozen dependencies.
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neurogated.core.contexts import remembered
from neurogated.embedding.exported_model import (
    ExportedModel,
    LocalEmbedder,
    Role,
    Tokenizer,
    has_accelerator,
    load_graph,
)
from neurogated.embedding.language_watch import LanguageWatch
from neurogated.embedding.sentence_transformers_embedder import BUNDLED_MODEL, SentenceTransformersEmbedder

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


class WordPieceTokenizer(Tokenizer):
    """The tokenizer of an uncased BERT model (Devlin et al., 2019).

    It lowers case and removes accents. It splits at spaces, around punctuation and around Han characters. It cuts each
    word from the left into the longest pieces of the vocabulary. The tokenizers library returns the same tokens, except
    for characters that Unicode has changed since the release of that library's tables.
    """

    def __init__(self, vocabulary: Path) -> None:
        """Read a vocabulary with one piece on each line. Raises OSError."""
        pieces = vocabulary.read_text(encoding="utf-8").rstrip("\n").split("\n")
        self._ids = {piece: number for number, piece in enumerate(pieces)}
        self.ends = self._ids[_FIRST], self._ids[_LAST]
        self._word = remembered(_REMEMBERED)(self._cut)

    def tokens(self, text: str) -> list[int]:
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
        character, category = chr(code), unicodedata.category(chr(code))
        if character in _SPACES or category.startswith("Z"):
            made = " "
        elif category in _REMOVED or character == "\N{REPLACEMENT CHARACTER}":
            made = ""
        elif character in _ASCII_PUNCTUATION or category.startswith("P") or any(code in han for han in _HAN):
            made = f" {character} "
        else:
            made = character.lower()
        self[code] = made
        return made


_CHARACTERS = _Characters()


BUNDLED_FOLDER = Path(__file__).with_name("all-MiniLM-L6-v2")
GRAPH_FILE = "model.xml"
DESCRIPTION_FILE = "description.json"
VOCABULARY_FILE = "vocab.txt"

# Texts of one width in a batch, measured in docs/adr/0013.
_BATCH_SIZE = 8


def load_bundled(*, exact: bool, folder: Path = BUNDLED_FOLDER) -> ExportedModel:
    """Return the bundled model after a first inference; the caller holds `LOADING`. See `load_graph` for `exact`.

    Raises:
        OSError: a file cannot be read.
        EmbeddingError: OpenVINO cannot load the model.
    """
    sizes = json.loads((folder / DESCRIPTION_FILE).read_text(encoding="utf-8"))
    tokenizer, graph = WordPieceTokenizer(folder / VOCABULARY_FILE), load_graph(folder / GRAPH_FILE, exact=exact)
    model = ExportedModel(tokenizer=tokenizer, session=graph, **sizes, batch_size=_BATCH_SIZE)
    model.embed([""])
    return model


class BundledEmbedder(LocalEmbedder[ExportedModel | SentenceTransformersEmbedder]):
    """The bundled model on the CPU, or on a GPU its original by torch; it warns of texts that are not in English."""

    def __init__(self, by_torch: SentenceTransformersEmbedder, *, exact: bool = False, on_cpu: bool = False) -> None:
        """Describe the model by its original, which has the configured prompts. Nothing is loaded yet.

        It is `on_cpu` even if a GPU is available. See `load_graph` for `exact`.
        """
        super().__init__(BUNDLED_MODEL, by_torch.prompts["query"], by_torch.prompts["document"])
        self._by_torch = by_torch
        self._languages = LanguageWatch(self.name)
        self._exact = exact
        self._on_cpu = on_cpu

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        if role == "document":
            self._languages.count(texts)
        model = self.model()
        return model.embed(texts, self.prompts[role]) if isinstance(model, ExportedModel) else model.embed(texts, role)

    def _load(self) -> ExportedModel | SentenceTransformersEmbedder:
        use_gpu = not self._on_cpu and has_accelerator()
        return self._by_torch if use_gpu else load_bundled(exact=self._exact)

    def _release(self, model: ExportedModel | SentenceTransformersEmbedder) -> None:
        if model is self._by_torch:
            self._by_torch.close()
