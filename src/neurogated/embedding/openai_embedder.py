"""Embeddings from OpenAI, or from any server with its protocol (vLLM, Ollama, llama.cpp, TEI)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neurogated.core.extras import import_extra
from neurogated.core.outage import answer_within
from neurogated.embedding.exported_model import PromptedEmbedder, Role, unit_vectors
from neurogated.errors import ConfigError, EmbeddingError
from neurogated.text.keywords import count_words
from neurogated.text.strings import composed

if TYPE_CHECKING:
    from openai import OpenAI

_PROBE = "dimension"
# Local servers need no key, but the client requires a text.
_NO_KEY = "none"
_SECONDS = 600.0
"""Time for a batch of texts, with all retries; a server without an accelerator is slow."""


class OpenAIEmbedder(PromptedEmbedder):
    """A model behind an OpenAI-compatible `/embeddings` address."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None,
        base_url: str | None,
        batch_size: int,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        seconds: float = _SECONDS,
    ) -> None:
        """Create the client. Nothing is sent yet. A request ends after `seconds` with all its retries.

        Raises:
            ConfigError: both the key and the server's address are missing.
            MissingExtraError: the `openai` package is not installed.
        """
        if not api_key and not base_url:
            raise ConfigError(f"embedding model {model!r} needs OPENAI_API_KEY, or embedding.base_url of a server")
        self._openai = import_extra(
            "openai", "openai", use="the client of every OpenAI-compatible server, also a local one"
        )
        self._client: OpenAI = self._openai.OpenAI(api_key=api_key or _NO_KEY, base_url=base_url)
        self._model = model
        self._batch_size = batch_size
        self._seconds = seconds
        self._dimension: int | None = None
        super().__init__(f"openai:{model}", query_prompt or None, document_prompt or None)

    @property
    def dimension(self) -> int:
        if self._dimension is None:
            self._dimension = self._unit_vectors([_PROBE]).shape[1]
        return self._dimension

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return self._unit_vectors([(self.prompts[role] or "") + text for text in texts])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return count_words(texts)  # the protocol cannot count tokens

    def close(self) -> None:
        self._client.close()

    def _unit_vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors: list[list[float]] = []
        for start in range(0, len(texts), self._batch_size):
            vectors.extend(self._ask(list(map(composed, texts[start : start + self._batch_size]))))
        if len({len(vector) for vector in vectors}) != 1:
            raise EmbeddingError(f"{self._where} returned vectors of different lengths; check embedding_name")
        return unit_vectors(vectors, self._where)

    def _ask(self, texts: list[str]) -> list[list[float]]:
        try:
            # The client's time-out begins again with each byte and each retry.
            answer = answer_within(
                self._seconds,
                lambda: self._client.embeddings.create(model=self._model, input=texts, encoding_format="float"),
                "embedding",
            )
        except TimeoutError as error:
            raise EmbeddingError(
                f"{self._where} did not answer within {self._seconds:g} s; check the server, or lower"
                " embedding.batch_size"
            ) from error
        except (self._openai.OpenAIError, ValueError) as error:
            raise EmbeddingError(
                f"{self._where} failed ({error}); check the server, the key and embedding_name"
            ) from error
        try:
            # A server may answer in any order; `index` is the position of the text.
            by_index = {item.index: [float(number) for number in item.embedding] for item in answer.data}
        except (AttributeError, TypeError, ValueError) as error:
            raise EmbeddingError(f"the answer of {self._where} holds no vectors ({error})") from error
        if sorted(by_index) != list(range(len(texts))) or not all(by_index.values()):
            raise EmbeddingError(f"{self._where} returned {len(by_index)} vectors for {len(texts)} texts")
        return [by_index[i] for i in range(len(texts))]

    @property
    def _where(self) -> str:
        return f"embedding model {self._model!r} at {self._client.base_url}"
