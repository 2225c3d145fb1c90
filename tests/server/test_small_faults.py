"""Methods that a path does not have, files beside the page, and memories that have expired."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta

import httpx
import pytest

from neurogated import EdgeKey, EdgeType, GraphDelta, GraphStore, MemoryConfig, NeuroGraphMemory
from neurogated.embedding.registry import HashEmbedder
from neurogated.errors import InputError, UnknownIdError
from neurogated.parts import Parts
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.server import create_app
from neurogated.testing import ManualClock

Ask = Callable[..., httpx.Response]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[NeuroGraphMemory]:
    parts = Parts(GraphStore(clock=clock), HashEmbedder(), UniformKernelSource(), clock=clock)
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash"), parts=parts) as memory:
        yield memory


@pytest.fixture
def ask(memory: NeuroGraphMemory) -> Ask:
    async def send(method: str, path: str, json: object = None) -> httpx.Response:
        transport = httpx.ASGITransport(create_app(memory))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, path, json=json)

    return lambda *words, **body: asyncio.run(send(*words, **body))


def test_health_answers_requests_for_its_head(ask: Ask) -> None:
    assert ask("HEAD", "/health").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/health", "GET, HEAD"),
        ("POST", "/metrics", "GET"),
        ("DELETE", "/v1/recall", "POST"),
        ("PUT", "/v1/memories", "DELETE, GET, POST"),
        ("PUT", "/v1/memories/a", "DELETE, GET, PATCH"),
        ("PUT", "/index.html", "GET, HEAD"),
        ("POST", "/", "GET, HEAD"),
    ],
)
def test_a_method_that_a_path_lacks_is_refused_with_those_it_has(
    ask: Ask, method: str, path: str, allowed: str
) -> None:
    answer = ask(method, path)
    assert answer.status_code == 405
    assert sorted(answer.headers["allow"].split(", ")) == sorted(allowed.split(", "))


def test_the_template_beside_the_style_of_the_page_is_not_served(ask: Ask) -> None:
    assert ask("GET", "/page.css").status_code == 200
    assert ask("GET", "/picture.js").headers["Content-Encoding"] == "gzip"
    assert ask("GET", "/page.html.j2").status_code == 404


def test_a_memory_that_has_expired_is_unknown(ask: Ask, memory: NeuroGraphMemory, clock: ManualClock) -> None:
    (name,) = memory.add("The code of the gate is 4711.", ttl=timedelta(hours=8))
    assert ask("GET", f"/v1/memories/{name}").json()["content"] == memory.get(name).content
    clock.advance(timedelta(hours=8))
    assert ask("GET", f"/v1/memories/{name}").status_code == 404
    with pytest.raises(UnknownIdError, match="has expired"):
        memory.get(name)
    assert not list(memory.list())


def test_an_error_names_an_edge_by_its_type_and_ends() -> None:
    key = EdgeKey("a", "b", EdgeType.SEQ)
    store = GraphStore()
    with pytest.raises(InputError, match="removes edge SEQ from 'a' to 'b' 2 times"):
        store.apply(GraphDelta(removed_edges=(key, key)))


def test_an_owner_in_a_body_is_told_where_it_belongs(ask: Ask) -> None:
    for path, body in (("/v1/recall", {"query": "x"}), ("/v1/memories", {"content": "x"})):
        answer = ask("POST", path, json={**body, "user_id": "ana"})
        assert answer.status_code == 422
        assert "'user_id' is not known here and belongs in the address" in answer.json()["error"]["message"]
