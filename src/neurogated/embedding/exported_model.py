"""A model that was exported: its tokenizer, the prompts before texts, and a session that runs it."""

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
from neurogated.embedding.runtimes import Session
from neurogated.embedding.vectors import unit_vectors

__all__ = ["INPUTS", "ExportedModel", "ModelDescription", "TextTokenizer", "Tokens"]

# Texts are filled up to a multiple of so many tokens. In half precision sums are rounded by blocks of that size: where
# the last block is whole, a text has the same vector, to the last bit, whatever shares its batch.
_BLOCK = 16

INPUTS: Mapping[str, str] = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
"""What a model may take, and what the tokenizer calls it."""


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """What of a model is neither in its graph nor in its tokenizer."""

    inputs: tuple[str, ...]
    """Names of what the model takes, of those in `INPUTS`."""
    dimension: int
    max_tokens: int
    """Longer texts are cut."""
    padding: Mapping[str, int]
    """What fills up the shorter texts of a batch, by input."""
    pads_left: bool
    """Whether texts are filled up at their beginning."""
    prompts: Mapping[str, str]
    """Text put before questions ("query") and passages ("document")."""
    exact: bool = False
    """Whether only single precision gives the model's own vectors."""

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ModelDescription:
        """Return the description from JSON values; raises TypeError and KeyError where it is none."""
        return cls(**{**values, "inputs": tuple(values["inputs"])})


class Tokens(Protocol):
    """The tokens of one text."""

    @property
    def ids(self) -> list[int]:
        """Their numbers in the vocabulary."""

    @property
    def attention_mask(self) -> list[int]:
        """1 for each."""

    @property
    def type_ids(self) -> list[int]:
        """The segment that each belongs to."""


class TextTokenizer(Protocol):
    """From texts to tokens."""

    def encode(self, texts: Sequence[str], max_tokens: int) -> Sequence[Tokens]:
        """Return at most `max_tokens` tokens of each text, special tokens among them."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each whole text, without special tokens."""


class ExportedModel:
    """Texts to vectors by an exported model.

    Texts of like length share a batch, so that little is filled up; as many batches run at once as the session can
    use. Every call has its own threads: a question never waits for a long call, only for batches that are running.
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
            texts: what to embed.
            role: "query" or "document".
            prompt: put before each text in the place of the model's own.
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
                # Reading the results raises what a thread raised.
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
        """Yield the rows of each batch: texts that are filled up to the same width, and no more than it takes."""
        widths = list(map(self._width, encodings))
        # The longest first, so that no long batch is left when the other threads are done.
        order = sorted(range(len(widths)), key=lambda row: -widths[row])
        for _, group in groupby(order, key=lambda row: widths[row]):
            rows = list(group)
            yield from (rows[at : at + self._batch_size] for at in range(0, len(rows), self._batch_size))

    def _width(self, encoding: Tokens) -> int:
        """Return the tokens that a text is filled up to; an empty one, where the model adds none, to a block too."""
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
                row[width - len(values) if self._description.pads_left else 0 :][: len(values)] = values
        return inputs
