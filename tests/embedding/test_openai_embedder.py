import json
import math
from collections.abc import Iterator

import numpy as np
import pytest

from neurogated.embedding.openai_embedder import OpenAIEmbedder
from neurogated.errors import EmbeddingError
from tests.llm.conftest import Handler, Server, server

__all__ = ["server"]


def vector_of(text: str) -> list[float]:
    """Return a vector that tells texts apart. It does not have unit length."""
    return [float(len(text)), float(sum(map(ord, text)) % 97), 1.0]


def item(index: int, vector: object) -> dict[str, object]:
    return {"object": "embedding", "index": index, "embedding": vector}


def body(data: object) -> dict[str, object]:
    return {"object": "list", "model": "m", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


@pytest.fixture
def embedder(server: Server) -> Iterator[OpenAIEmbedder]:
    embedder = OpenAIEmbedder("test-model", api_key=None, base_url=server.url, batch_size=3)
    yield embedder
    embedder.close()


def expected(texts: list[str]) -> np.ndarray:
    rows = [[value / math.hypot(*vector_of(text)) for value in vector_of(text)] for text in texts]
    return np.array(rows, dtype=np.float32)


def test_vectors_stand_in_the_order_of_the_texts_though_the_server_shuffles(
    server: Server, embedder: OpenAIEmbedder
) -> None:
    texts = ["one", "three", "fourteen", "我愛你"]

    def shuffle(handler: Handler) -> None:
        items = [item(index, vector_of(text)) for index, text in enumerate(server.requests[-1]["input"])]
        handler.send(200, json.dumps(body(items[1:] + items[:1])).encode())

    server.script.append(shuffle)
    vectors = embedder.embed_documents(texts)

    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected(texts), atol=1e-6)


def test_a_server_that_sends_its_answer_byte_by_byte_is_given_up(server: Server) -> None:
    server.drips()
    embedder = OpenAIEmbedder("test-model", api_key=None, base_url=server.url, batch_size=3, seconds=0.25)
    with pytest.raises(EmbeddingError, match="within"):
        embedder.embed_documents(["a"])
    embedder.close()


@pytest.mark.parametrize(
    "content",
    [
        *(pytest.param(status, id=f"refused with {status}") for status in (400, 401, 404, 429, 500)),
        pytest.param("{not json", id="no JSON"),
        pytest.param({}, id="no data"),
        pytest.param(body("text"), id="data is text"),
        pytest.param(body([item(0, [1.0, 2.0])]), id="too few"),
        pytest.param(body([item(0, [1.0, 2.0]), item(0, [1.0, 2.0])]), id="an index twice"),
        pytest.param(body([item(0, [1.0, 2.0]), item(7, [1.0, 2.0])]), id="an index out of range"),
        pytest.param(body([item(0, [1.0, 2.0]), item(1, [1.0])]), id="different lengths"),
        pytest.param(body([item(0, [1.0, math.nan]), item(1, [1.0, 2.0])]), id="NaN"),
        pytest.param(body([item(0, ["a"]), item(1, ["b"])]), id="words for numbers"),
        pytest.param(body([item(0, []), item(1, [])]), id="empty vectors"),
    ],
)
def test_a_refusal_or_an_answer_that_is_no_vectors_names_model_and_address(
    server: Server, embedder: OpenAIEmbedder, content: object
) -> None:
    if isinstance(content, int):
        server.refuses(content)
    else:
        server.sends(content.encode() if isinstance(content, str) else json.dumps(content).encode())

    with pytest.raises(EmbeddingError) as caught:
        embedder.embed_documents(["a", "b"])

    assert "'test-model'" in str(caught.value)
    assert server.url in str(caught.value)
