"""Embedding in a background thread: the next batch is embedded while the current batch is written."""

from __future__ import annotations

import contextvars
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from neurogated.core.model import Vector, as_vector
from neurogated.core.ports import Embedder

ALONE = 2
"""Up to this many texts are embedded when they are taken, since the background thread would cost more than it saves."""


class EmbeddingAhead:
    """Embeds texts in a background thread until `take` returns their vectors. Use it in a `with` block of one thread.

    Texts are embedded in the order of the calls of `begin`. Leaving the block cancels the waiting calls and ends the
    background thread. `take` embeds one or two texts that are begun alone, such as a question and its answer.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._thread: ThreadPoolExecutor | None = None
        # For each text, the call that embeds it and its row in the result.
        self._coming: dict[str, tuple[Future[NDArray[np.float32]], int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._thread.shutdown(cancel_futures=True)

    def begin(self, texts: Iterable[str]) -> None:
        """Start to embed the texts that are not yet being embedded, each once. Does not wait."""
        new = [text for text in dict.fromkeys(texts) if text not in self._coming]
        if len(new) > ALONE:
            self._thread = self._thread or ThreadPoolExecutor(1, thread_name_prefix="embedding")
            call = self._thread.submit(contextvars.copy_context().run, self._embed, new)
            self._coming.update((text, (call, row)) for row, text in enumerate(new))

    def take(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vector of each text, and forget the vectors. Raises the errors of the embedder."""
        self.begin(texts)
        coming = {text: self._coming.pop(text, None) for text in dict.fromkeys(texts)}
        vectors: dict[str, Vector] = {
            text: place[0].result()[place[1]] for text, place in coming.items() if place is not None
        }
        alone = [text for text in coming if text not in vectors]
        vectors |= zip(alone, self._embed(alone), strict=True) if alone else ()
        return [vectors[text] for text in texts]

    def means(self, texts: Collection[Sequence[str]]) -> Iterator[NDArray[np.float32]]:
        """Yield a vector for each list of texts: the vector of a single text, or the normalised mean of several."""
        vectors = iter(self.take(list(chain.from_iterable(texts))) if texts else ())
        for several in texts:
            own = [np.asarray(next(vectors)) for _ in several]
            if len(own) > 1:
                mean = np.mean(own, axis=0)
                own = [mean / (np.linalg.norm(mean) or 1.0)]
            yield as_vector(own[0])

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embedder.embed_documents(texts)
