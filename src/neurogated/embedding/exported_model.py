"""An exported model: its tokenizer, its prompts, and the session that runs it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from neurogated.core.watchdog import stage
from neurogated.embedding.vectors import unit_vectors

__all__ = ["INPUTS", "ExportedModel", "ModelDescription", "Session", "TextTokenizer", "Tokens"]

# Texts are padded to a multiple of this many tokens. Half precision rounds sums by blocks of this size. If all blocks
# are complete, the vector of a text does not depend on the other texts in its batch, to the last bit.
_BLOCK = 16

INPUTS: Mapping[str, str] = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
"""Input names of models, and the names of the same values in the tokenizer."""


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """The properties of a model that are neither in its graph nor in its tokenizer."""

    inputs: tuple[str, ...]
    """Names of the model's inputs; a subset of `INPUTS`."""
    dimension: int
    max_tokens: int
    """Longer texts are truncated."""
    padding: Mapping[str, int]
    """The padding value of each input."""
    prompts: Mapping[str, str]
    """Prompts before questions ("query") and passages ("document")."""

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ModelDescription:
        """Return the description from JSON values. Raises TypeError and KeyError if they do not fit."""
        return cls(**{**values, "inputs": tuple(values["inputs"])})


class Tokens(Protocol):
    """The tokens of one text."""

    @property
    def ids(self) -> list[int]:
        """Their numbers in the vocabulary."""

    @property
    def attention_mask(self) -> list[int]:
        """1 for each token."""

    @property
    def type_ids(self) -> list[int]:
        """The segment of each token."""


class TextTokenizer(Protocol):
    """Splits texts into tokens."""

    def encode(self, texts: Sequence[str], max_tokens: int) -> Sequence[Tokens]:
        """Return at most `max_tokens` tokens of each text, including special tokens."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each whole text, without special tokens."""


class Session(Protocol):
    """A loaded model. Thread-safe."""

    @property
    def concurrency(self) -> int:
        """The number of concurrent runs that use the machine fully."""

    def run(self, inputs: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float32]:
        """Return (n, dimension) vectors. `inputs` maps names to (n, tokens) arrays."""


class ExportedModel:
    """Embeds texts with an exported model.

    Texts of similar length share a batch, which needs little padding. The session's `concurrency` limits the concurrent
    batches of a call. Every call has its own threads, so a question waits for running batches at most, not for a long
    call.
    """

    def __init__(
        self, description: ModelDescription, tokenizer: TextTokenizer, session: Session, batch_size: int
    ) -> None:
        self._description = description
        self._tokenizer = tokenizer
        self._session = session
        self._batch_size = batch_size
        self.dimension = description.dimension

    def embed(self, texts: Sequence[str], role: str, prompt: str | None = None) -> NDArray[np.float32]:
        """Return (n, dimension) unit vectors in the order of `texts`.

        Args:
            texts: the texts to embed.
            role: "query" or "document".
            prompt: prompt before each text instead of the model's own.
        """
        begin = self._description.prompts[role] if prompt is None else prompt
        begun = [begin + text for text in texts] if begin else texts
        encodings = self._tokenizer.encode(begun, self._description.max_tokens)
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        batches = list(self._batches(encodings))

        def fill(rows: list[int]) -> None:
            vectors[rows] = self._session.run(self._inputs([encodings[row] for row in rows]))

        if len(batches) > 1:
            with ThreadPoolExecutor(min(self._session.concurrency, len(batches))) as threads:
                # Reading the results raises the errors of the threads.
                for done, _ in enumerate(threads.map(fill, batches), 1):
                    stage(f"embedding {len(texts)} texts, {done} of {len(batches)} batches done")
        else:
            for rows in batches:
                fill(rows)
        return unit_vectors(vectors, "the exported embedding model")

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of the model's tokens of each text, without special tokens."""
        return self._tokenizer.count(texts)

    def _batches(self, encodings: Sequence[Tokens]) -> Iterator[list[int]]:
        """Yield the rows of each batch: at most `batch_size` texts with the same padded width."""
        widths = list(map(self._width, encodings))
        # Longest first, so that no long batch is last while the other threads are idle.
        order = sorted(range(len(widths)), key=lambda row: -widths[row])
        for _, group in groupby(order, key=lambda row: widths[row]):
            rows = list(group)
            yield from (rows[at : at + self._batch_size] for at in range(0, len(rows), self._batch_size))

    def _width(self, encoding: Tokens) -> int:
        """Return the padded width of a text in tokens; a text without tokens has one block."""
        return min(-(-max(len(encoding.ids), 1) // _BLOCK) * _BLOCK, self._description.max_tokens)

    def _inputs(self, encodings: Sequence[Tokens]) -> dict[str, NDArray[np.int64]]:
        width = self._width(encodings[0])
        inputs = {
            name: np.full((len(encodings), width), self._description.padding[name], dtype=np.int64)
            for name in self._description.inputs
        }
        for name, matrix in inputs.items():
            for row, encoding in zip(matrix, encodings, strict=True):
                values = getattr(encoding, INPUTS[name])
                row[: len(values)] = values
        return inputs
