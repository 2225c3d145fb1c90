"""An application in this process: its methods, files and map, expired memories, and what a page of history costs."""

import asyncio
from collections.abc import Callable, Iterator

import httpx
import numpy as np
import pytest

from neurogated import GraphStore, MemoryConfig, NeuroGraphMemory
from neurogated.embedding.registry import HashEmbedder
from neurogated.operations import OPERATIONS
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.server import create_app
from neurogated.server.map import lay_out
from neurogated.session.runtime import Parts
from neurogated.testing import ManualClock

Ask = Callable[..., httpx.Response]


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


def test_an_unknown_word_in_an_address_is_answered_with_the_known_ones_in_order(ask: Ask) -> None:
    (operation,) = (one for one in OPERATIONS.values() if one.route == "GET /memories")
    told = ask("GET", "/v1/memories?bogus=1").json()["error"]["message"]
    places = [told.index(f" {one.name}") for one in operation.doors[operation.route] if one.name != "user_id"]
    assert places == sorted(places)
    assert len(places) > 3


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


def test_an_owner_in_a_body_is_told_where_it_belongs(ask: Ask) -> None:
    for path, body in (("/v1/recall", {"query": "x"}), ("/v1/memories", {"content": "x"})):
        answer = ask("POST", path, json={**body, "user_id": "ana"})
        assert answer.status_code == 422
        assert "'user_id' is not known here and belongs in the address" in answer.json()["error"]["message"]


@pytest.mark.parametrize(("members", "count"), [(0, 1), (3, 1), (500, 7), (10_000, 60), (3_000, 400)])
def test_regions_hold_their_members_and_do_not_overlap(members: int, count: int) -> None:
    random = np.random.default_rng(count)
    region = random.integers(0, count, members)
    links = [
        (first, second, 1.0) for first, second in random.integers(0, count, (count, 2)).tolist() if first != second
    ]
    found = lay_out(region, count, links)
    distance = np.hypot(*(found.centres[:, None] - found.centres).T)
    np.fill_diagonal(distance, np.inf)
    assert (distance >= found.radii[:, None] + found.radii).all()
    assert (np.hypot(*(found.points - found.centres[region]).T) <= found.radii[region]).all()
    again = lay_out(region, count, links)
    assert all(np.array_equal(one, other) for one, other in zip(found, again, strict=True))


def test_the_first_members_lie_in_the_middle_and_none_covers_another() -> None:
    found = lay_out(np.zeros(2_000, dtype=np.int64), 1, [])
    away = np.hypot(*(found.points - found.centres[0]).T)
    assert (np.diff(away) > 0).all()
    apart = np.hypot(*(found.points[:, None] - found.points).T)
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 1
