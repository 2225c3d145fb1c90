"""The routes of a server without keys, on loopback."""

from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from tests.knowledge.plain_reader import flags_of
from tests.served import Servers, client


@pytest.fixture(scope="module")
def url(servers: Servers, read_by_model: Mapping[str, Any]) -> str:
    return servers.start(*flags_of(read_by_model))


@pytest.fixture
def ana(url: str, request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    with client(url, user_id=request.node.name) as found:
        yield found


def add(to: httpx.Client, *texts: str) -> list[str]:
    answer = to.post("/v1/memories", json={"content": list(texts)})
    assert answer.status_code == 201, answer.text
    ids: list[str] = answer.json()["ids"]
    return ids


def changes(of: httpx.Client, **query: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = of.get("/v1/history", params=query).json()["changes"]
    return found


def test_a_memory_is_added_read_recalled_changed_and_deleted(ana: httpx.Client) -> None:
    (known,) = add(ana, "Ana collects old maps of Lyon.")
    assert ana.get(f"/v1/memories/{known}").json()["content"] == "Ana collects old maps of Lyon."
    recalled = ana.post("/v1/recall", json={"query": "What does Ana collect?", "explain": True}).json()
    assert recalled["memories"][0]["node"]["id"] == known
    assert recalled["kernel"]["weights"]
    changed = ana.patch(f"/v1/memories/{known}", json={"content": "Ana collects stamps.", "tags": ["hobby"]}).json()
    assert (changed["content"], changed["tags"]) == ("Ana collects stamps.", ["hobby"])
    assert ana.post("/v1/feedback", json={"ids": [known], "outcome": 0.5}).status_code == 200
    assert "stamps" in ana.post("/v1/context", json={"query": "a present for Ana, who collects"}).json()["text"]
    assert ana.delete(f"/v1/memories/{known}").json() == {"count": 1}
    assert ana.get(f"/v1/memories/{known}").status_code == 404


def test_a_message_that_cannot_be_read_costs_no_other_and_is_told(ana: httpx.Client) -> None:
    odd = {"role": "user", "content": ["Ana has a kite.", {"type": "hologram"}]}
    answer = ana.post("/v1/memories", json={"content": ["Ana has a boat.", {"words": "hi"}, odd]})
    assert answer.status_code == 201, answer.text
    told = answer.json()
    assert (len(told["ids"]), told["refused"], len(told["notes"])) == (2, 1, 2)
    assert "content 2: " in told["notes"][0]
    assert "content 3: part 2 of a message has the type 'hologram'" in told["notes"][1]
    assert ana.post("/v1/memories", json={"content": [{"words": "hi"}]}).status_code == 400


@pytest.mark.parametrize(
    ("path", "name"), [("/v1/facts", "facts"), ("/v1/history", "changes"), ("/v1/memories", "memories")]
)
def test_pages_have_each_entry_once_even_if_the_last_one_shown_is_deleted(
    ana: httpx.Client, path: str, name: str
) -> None:
    for pet in ("Minou", "Rex", "Bello"):
        add(ana, f"My cat is called {pet}.")
    every = ana.get(path, params={"limit": 1000}).json()
    seen: list[dict[str, str]] = []
    cursor: dict[str, Any] = {}
    while None not in cursor.values():
        page = ana.get(path, params={"limit": 2, **cursor}).json()
        assert len(page[name]) <= 2
        seen += page[name]
        cursor = {"cursor": page["cursor"]}
        if name == "memories":
            assert ana.delete(f"/v1/memories/{seen[-1]['id']}").status_code == 200
    assert seen == every[name]
    assert len(seen) >= 3
    assert every["cursor"] is None


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/v1/memories/unknown", None, 404),
        ("GET", "/v1/nowhere", None, 404),
        ("POST", "/v1/recall", {"query": " "}, 400),
        ("POST", "/v1/memories", {"content": [{"words": "hi", "id": "mine"}]}, 400),
        ("POST", "/v1/undo", {"to": 10**6}, 400),
        ("POST", "/v1/conflicts/unknown/resolve", {"keep": "both"}, 404),
    ],
)
def test_an_error_is_json_with_a_fitting_status(url: str, method: str, path: str, body: object, status: int) -> None:
    answer = httpx.request(method, f"{url}{path}", json=body, headers={"X-Request-Id": "mine-1"})
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert error["request_id"] == answer.headers["x-request-id"] == "mine-1"
    assert error["type"]
    assert error["message"]


def test_the_description_names_every_answer(ana: httpx.Client) -> None:
    told = ana.get("/openapi.json").json()
    operations = [operation for path in told["paths"].values() for operation in path.values()]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    for operation in operations:
        answers = [answer for status, answer in operation["responses"].items() if status.startswith("2")]
        assert all("$ref" in str(answer) or "text/plain" in str(answer) for answer in answers), operation["operationId"]
