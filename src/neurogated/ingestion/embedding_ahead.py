"""Embedding in a thread of its own: what is to be written next is embedded while what came before is written."""

from __future__ import annotations

import contextvars
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from neurogated.core.model import Vector
from neurogated.core.ports import Embedder
from neurogated.core.watchdog import stage

__all__ = ["EmbeddingAhead"]


class EmbeddingAhead:
    """Begins to embed texts and gives their vectors when they are asked for; one thread uses it, in a `with` block.

    Texts are embedded in the order in which they were begun. The thread has ended when the block is left, however it is
    left; what was begun by then and has not been reached is not embedded.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embedding")
        # Of each text the call that embeds it, and its row in what the call gives.
        self._coming: dict[str, tuple[Future[NDArray[np.float32]], int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._thread.shutdown(cancel_futures=True)

    def begin(self, texts: Iterable[str]) -> None:
        """Embed those of `texts` that are not being embedded, each once; does not wait."""
        new = [text for text in dict.fromkeys(texts) if text not in self._coming]
        if new:
            call = self._thread.submit(contextvars.copy_context().run, self._embed, new)
            self._coming.update((text, (call, row)) for row, text in enumerate(new))

    def take(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vector of each text, begun before or not, and forget them; raises what the embedder raised."""
        self.begin(texts)
        places = [self._coming[text] for text in texts]
        for text in texts:
            self._coming.pop(text, None)
        return [call.result()[row] for call, row in places]

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        stage(f"embedding {len(texts)} texts")
        try:
            return self._embedder.embed_documents(texts)
        finally:
            stage(None)
