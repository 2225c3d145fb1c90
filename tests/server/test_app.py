"""The application: its start, its end, and whom its keys admit."""

import asyncio
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from neurogated import GraphStore, MemoryConfig, NeuroGraphMemory
from neurogated.embedding.registry import HashEmbedder
from neurogated.operations import OPERATIONS
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.server import Grant, Keys, create_app
from neurogated.server.map import lay_out
from neurogated.session.runtime import Parts
from neurogated.testing import ManualClock
from tests.served import COMMAND, Servers, client

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


@pytest.fixture(scope="module")
def holders(servers: Servers) -> Iterator[dict[str, httpx.Client]]:
    keys = {name: servers.key("--user_id", name) for name in ("ana", "ben")} | {"all": servers.key()}
    url = servers.start("--host", "0.0.0.0", "--body", "10000")  # noqa: S104 - with keys
    url = url.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
    found = {name: client(url, key) for name, key in keys.items()} | {"nobody": client(url)}
    yield found
    for one in found.values():
        one.close()


def test_a_key_of_a_user_reads_no_metrics_and_no_pages_of_others(holders: dict[str, httpx.Client]) -> None:
    assert holders["nobody"].get("/health").json()["status"] == "ok"
    assert holders["ben"].get("/metrics").status_code == 403
    for path in ("/v1/memories", "/v1/history"):
        for text in ("One.", "Two."):
            holders["ana"].post("/v1/memories", json={"content": text})
        cursor = holders["ana"].get(path, params={"limit": 1}).json()["cursor"]
        assert holders["ben"].get(path, params={"cursor": cursor}).status_code == 400


def test_a_key_for_all_users_names_the_user(holders: dict[str, httpx.Client]) -> None:
    both = holders["all"]
    added = both.post("/v1/memories?user_id=cid", json={"content": "Cid plays chess."}).json()["ids"][0]
    assert both.get(f"/v1/memories/{added}?user_id=cid").status_code == 200
    assert both.get(f"/v1/memories/{added}").status_code == 404
    assert both.get("/v1/history").json()["changes"][0]["sequence"] > 0
    metrics = both.get("/metrics").text
    assert 'route="/memories/{memory_id}"' in metrics
    assert added not in metrics


def test_a_key_of_a_user_reads_shared_memories_but_does_not_change_them(holders: dict[str, httpx.Client]) -> None:
    shared = holders["all"].post("/v1/memories", json={"content": "The office opens at nine."}).json()["ids"][0]
    assert holders["ana"].get(f"/v1/memories/{shared}").status_code == 200
    assert holders["ana"].delete(f"/v1/memories/{shared}").status_code == 403
    assert holders["all"].delete(f"/v1/memories/{shared}").status_code == 200


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_the_limit_is_refused(holders: dict[str, httpx.Client], *, chunked: bool) -> None:
    body = b'{"content": "' + b"a" * 20_000 + b'"}'
    content = iter([body]) if chunked else body
    answer = holders["ana"].post("/v1/memories", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 413
    assert answer.json()["error"]["request_id"]


def test_the_file_of_keys_has_hashes_only(holders: dict[str, httpx.Client], servers: Servers) -> None:
    file = servers.folder / "server_keys.json"
    assert holders["ana"].headers["Authorization"].partition(" ")[2] not in file.read_text(encoding="utf-8")
    assert file.stat().st_mode & 0o077 == 0


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with Servers(tmp_path_factory.mktemp("local")) as found, client(found.start("--rate", "5")) as one:
        yield one


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:80@127.0.0.1"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Content-Type": "text/plain"}, 422),
    ],
)
def test_a_page_of_another_origin_cannot_write(local: httpx.Client, headers: dict[str, str], status: int) -> None:
    body = {"Content-Type": "application/json", **headers}
    answer = local.post("/v1/memories", content=b'{"content": "Planted."}', headers=body)
    assert answer.status_code == status
    assert local.get("/v1/memories").json()["memories"] == []


def test_more_requests_than_the_rate_are_refused(local: httpx.Client) -> None:
    assert 429 in {local.get("/v1/memories").status_code for _ in range(30)}


def test_another_host_needs_keys(tmp_path: Path) -> None:
    words = [*COMMAND, "--save_dir", str(tmp_path), "--host", "0.0.0.0"]  # noqa: S104 - refused
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--new_key" in done.stderr


def test_two_commands_at_once_both_keep_their_keys(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    one, other = Keys.read(file), Keys.read(file)
    made = [one.create(file, Grant("default", "ana")), other.create(file, Grant("default", "ben"))]
    users = [Keys.read(file).grant_of(f"Bearer {key}") for key in made]
    assert [grant and grant.user_id for grant in users] == ["ana", "ben"]


def test_a_server_refuses_a_removed_key_and_takes_a_new_one_for_a_namespace_that_it_serves(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    ana = Keys.read(file).create(file, Grant("default", "ana"))
    serving = Keys.read(file)
    assert serving.grant_of(f"Bearer {ana}")
    ben, elsewhere = (Keys.read(file).create(file, Grant(name, "ben")) for name in ("default", "other"))
    assert serving.grant_of(f"Bearer {ben}")
    assert serving.grant_of(f"Bearer {elsewhere}") is None
    stored = json.loads(file.read_text())
    file.write_text(json.dumps({digest: grant for digest, grant in stored.items() if grant["user_id"] == "ben"}))
    assert serving.grant_of(f"Bearer {ana}") is None
    file.write_text("{half")
    assert serving.grant_of(f"Bearer {ben}")
    file.unlink()
    assert serving.grant_of(f"Bearer {ben}") is None
