import json
import math
import threading
from collections.abc import Callable, Iterator
from http.server import HTTPServer
from typing import Any

import numpy as np
import pytest

from neurogated.embedding.openai_embedder import OpenAIEmbedder
from neurogated.errors import EmbeddingError
from tests.chat_handler import ChatHandler

Answer = Callable[[list[str]], tuple[int, object]]


def vector_of(text: str) -> list[float]:
    """Return a vector that tells texts apart. It does not have unit length."""
    return [float(len(text)), float(sum(map(ord, text)) % 97), 1.0]


def item(index: int, vector: object) -> dict[str, object]:
    return {"object": "embedding", "index": index, "embedding": vector}


def body(data: object) -> dict[str, object]:
    return {"object": "list", "model": "m", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def shuffled_answer(texts: list[str]) -> tuple[int, object]:
    items = [item(index, vector_of(text)) for index, text in enumerate(texts)]
    return 200, body(items[1:] + items[:1])


class Server:
    """Serves `POST /v1/embeddings` on this machine."""

    def __init__(self) -> None:
        self.answer: Answer = shuffled_answer
        self.drip = 0.0
        self.released = threading.Event()
        server = self

        class Handler(ChatHandler):
            def answer(self, request: dict[str, Any]) -> None:
                status, content = server.answer(request["input"])
                payload = content.encode() if isinstance(content, str) else json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.send_header("x-should-retry", "false")
                self.end_headers()
                for byte in payload if server.drip else ():
                    if server.released.wait(server.drip):
                        return
                    self.wfile.write(bytes([byte]))
                self.wfile.write(b"" if server.drip else payload)

        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"

    def embedder(self, **changes: Any) -> OpenAIEmbedder:  # noqa: ANN401
        settings: dict[str, Any] = {"api_key": None, "base_url": self.url, "batch_size": 3, **changes}
        return OpenAIEmbedder("test-model", **settings)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    # Polled often, so that shutting down does not take the default half second.
    thread = threading.Thread(target=server.http.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.released.set()
    server.http.shutdown()
    thread.join()
    server.http.server_close()


@pytest.fixture
def embedder(server: Server) -> Iterator[OpenAIEmbedder]:
    embedder = server.embedder()
    yield embedder
    embedder.close()


def expected(texts: list[str]) -> np.ndarray:
    rows = [[value / math.hypot(*vector_of(text)) for value in vector_of(text)] for text in texts]
    return np.array(rows, dtype=np.float32)


def test_vectors_stand_in_the_order_of_the_texts_though_the_server_shuffles(embedder: OpenAIEmbedder) -> None:
    texts = ["one", "three", "fourteen", "我愛你"]

    vectors = embedder.embed_documents(texts)

    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected(texts), atol=1e-6)


def test_a_server_that_sends_its_answer_byte_by_byte_is_given_up(server: Server) -> None:
    server.drip = 0.05
    embedder = server.embedder(seconds=0.25)
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
    refusal = {"error": {"message": "the server's complaint"}}
    server.answer = lambda _: (content, refusal) if isinstance(content, int) else (200, content)

    with pytest.raises(EmbeddingError) as caught:
        embedder.embed_documents(["a", "b"])

    assert "'test-model'" in str(caught.value)
    assert server.url in str(caught.value)
