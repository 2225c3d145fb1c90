"""An exported model: its tokenizer, and the session that runs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import groupby
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from neurogated.embedding.openvino_runtime import OpenVINOSession
from neurogated.embedding.vectors import unit_vectors
from neurogated.text.strings import give_way

# Texts are padded to a multiple of this many tokens. Half precision rounds sums by blocks of this size. If all blocks
# are complete, the vector of a text does not depend on the other texts in its batch, to the last bit.
_BLOCK = 16

_NUMBERS, _ONES = "input_ids", "attention_mask"
INPUTS = (_NUMBERS, _ONES, "token_type_ids")
"""The names of the inputs of the model."""


class Tokenizer(Protocol):
    """Cuts texts into the tokens of a model."""

    def encode(self, texts: Sequence[str], max_tokens: int) -> list[list[int]]:
        """Return at most `max_tokens` tokens of each text, including the special tokens at both ends."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each whole text, without special tokens."""
        ...


class ExportedModel:
    """Embeds texts with an exported model.

    Texts of similar length share a batch, which needs little padding. The session's `concurrency` limits the concurrent
    batches of a call. Every call has its own threads, so a question waits for running batches at most, not for a long
    call.
    """

    def __init__(
        self, tokenizer: Tokenizer, session: OpenVINOSession, *, dimension: int, max_tokens: int, batch_size: int
    ) -> None:
        """Take the parts of a model; it truncates texts of more than `max_tokens` tokens."""
        self._tokenizer = tokenizer
        self._session = session
        self._max_tokens = max_tokens
        self._batch_size = batch_size
        self.dimension = dimension

    def embed(self, texts: Sequence[str], prompt: str | None = None) -> NDArray[np.float32]:
        """Return (n, dimension) unit vectors in the order of `texts`, each with the prompt before it."""
        begun = [prompt + text for text in texts] if prompt else texts
        encodings = self._tokenizer.encode(begun, self._max_tokens)
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        batches = list(self._batches(encodings))

        def fill(rows: list[int]) -> None:
            give_way()
            vectors[rows] = self._session.run(self._inputs([encodings[row] for row in rows]))

        if len(batches) > 1:
            with ThreadPoolExecutor(min(self._session.concurrency, len(batches))) as threads:
                # Reading the results raises the errors of the threads.
                list(
                    threads.map(
                        lambda rows, context: context.run(fill, rows), batches, (copy_context() for _ in batches)
                    )
                )
        else:
            for rows in batches:
                fill(rows)
        return unit_vectors(vectors, "the exported embedding model")

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of the model's tokens of each text, without special tokens."""
        return self._tokenizer.count(texts)

    def _batches(self, encodings: Sequence[list[int]]) -> Iterator[list[int]]:
        """Yield the rows of each batch: at most `batch_size` texts with the same padded width."""
        widths = list(map(self._width, encodings))
        # Longest first, so that no long batch is last while the other threads are idle.
        order = sorted(range(len(widths)), key=lambda row: -widths[row])
        for _, group in groupby(order, key=lambda row: widths[row]):
            rows = list(group)
            yield from (rows[at : at + self._batch_size] for at in range(0, len(rows), self._batch_size))

    def _width(self, tokens: list[int]) -> int:
        """Return the padded width of a text in tokens; a text without tokens has one block."""
        return min(-(-max(len(tokens), 1) // _BLOCK) * _BLOCK, self._max_tokens)

    def _inputs(self, encodings: Sequence[list[int]]) -> dict[str, NDArray[np.int64]]:
        width = self._width(encodings[0])
        # The mask hides the padding, so its number does not matter. The type of each token of a single text is 0.
        expected = [name for name in INPUTS if name in self._session.inputs]
        inputs = {name: np.zeros((len(encodings), width), dtype=np.int64) for name in expected}
        for place, tokens in enumerate(encodings):
            inputs[_NUMBERS][place, : len(tokens)] = tokens
            inputs[_ONES][place, : len(tokens)] = 1
        return inputs
