"""What holds for every route that the OpenAPI document names."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from tests.served import Servers, client
from tests.server.described import Document, Json, Operation

PLACE = "zanzibar"


@dataclass
class Users:
    """Two users of one server, and the document of its routes."""

    ana: httpx.Client
    ben: httpx.Client
    document: Document


@pytest.fixture(scope="module")
def users(servers: Servers) -> Iterator[Users]:
    keys = [servers.key("--user_id", name) for name in ("ana", "ben")]
    url = servers.start("--rate", "10000")
    with client(url, keys[0]) as ana, client(url, keys[1]) as ben:
        yield Users(ana, ben, Document(ben.get("/openapi.json").json()))


def ask(who: httpx.Client, operation: Operation) -> httpx.Response:
    return who.request(operation.method, operation.path, params=dict(operation.queries), json=operation.body)


def readings(users: Users, who: httpx.Client) -> dict[str, Json]:
    """Return what a user reads by all routes without an id, except for times."""
    found = {}
    for one in users.document.operations(PLACE):
        if one.method == "GET" and one.path.startswith("/v1/") and PLACE not in one.path:
            # Energies fall all the time.
            answer = json.loads(who.get(one.path).text, parse_float=lambda _: 0.0)
            found[one.name] = {**answer, "created_at": ""} if isinstance(answer, dict) else answer
    return found


def with_text(operation: Operation, text: str) -> Operation:
    """Return an operation whose expression is one that names an id."""
    if operation.name == "execute":
        return Operation(**{**vars(operation), "body": {"expression": f'(trace "{text}" 2)'}})
    return operation


def test_a_second_user_cannot_tell_ids_of_the_first_from_unknown_ones(servers: Servers, users: Users) -> None:
    before = readings(users, users.ben)
    told = [f"My birthday is on {day} May in {PLACE}." for day in (3, 4)]
    ids = [users.ana.post("/v1/memories", json={"content": text}).json()["ids"][0] for text in told]
    servers.state("ana", "birthday", f"3 May in {PLACE}", f"4 May in {PLACE}")
    conflict = users.ana.get("/v1/conflicts?status=all").json()[0]
    mine = readings(users, users.ana)
    assert before == readings(users, users.ben)
    asked = 0
    for known in (ids[0], conflict["id"], conflict["first"]):
        unknown = known.partition("-")[0] + "-" + "0" * 32
        pairs = zip(users.document.operations(known), users.document.operations(unknown), strict=True)
        for first, second in pairs:
            answers = [ask(users.ben, with_text(*one)) for one in ((first, known), (second, unknown))]
            if first.name in {"add", "state"}:  # it stores the text, whose id is no secret
                assert users.ben.delete("/v1/memories").json() == {"count": 2}
                continue
            texts = [one.text.replace(known, unknown).replace(one.headers["x-request-id"], "") for one in answers]
            assert answers[0].status_code == answers[1].status_code, (first, texts)
            # The second undo takes back another change of hers.
            assert texts[0] == texts[1] or first.name == "undo"
            if first.name == "undo":  # it brings back what was stored
                users.ben.delete("/v1/memories")
            assert PLACE not in texts[0]
            users.document.check(first, answers[0])
            asked += 1
    assert asked > 40
    assert mine == readings(users, users.ana)


WRONG: list[tuple[str, bytes]] = [
    ("no JSON", b"{"),
    ("no UTF-8", b'{"content": "\xff"}'),
    ("deep", b"[" * 100_000),
    ("deep metadata", b'{"content": "a", "metadata": ' + b'{"a":' * 5_000 + b"1" + b"}" * 5_001),
    ("a long number", b'{"content": "a", "importance": ' + b"9" * 5_000 + b"}"),
    ("infinity", b'{"content": "a", "importance": 1e999, "min_score": 1e999, "query": "a"}'),
    ("NaN", b'{"content": "a", "ttl": NaN, "query": "a", "metadata": {"a": NaN}}'),
    ("a list", b"[]"),
    ("null", b"null"),
    ("a text", b'"text"'),
    ("a surrogate as a name", b'{"\\ud800": 1}'),
]


@pytest.mark.parametrize("body", [body for _, body in WRONG], ids=[name for name, _ in WRONG])
def test_a_wrong_body_is_an_error_of_the_client(users: Users, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    for one in users.document.operations("text"):
        if one.body is not None:
            answer = users.ben.request(one.method, one.path, content=body, headers=headers)
            optional = one.name == "undo" and body == b"null"
            assert 400 <= answer.status_code < 500 or optional, (one, answer.text)
            users.document.check(one, answer)


VALUES: list[Json] = [None, 7, -1, 1e308, True, [], [[]], {}, "", " ", "\0", "\ud800", "a" * 100_000, "2026-99-99"]


def test_a_wrong_value_in_any_place_is_answered_as_described(users: Users) -> None:
    for one in users.document.operations("chunk-1"):
        bodies = (
            []
            if not isinstance(one.body, dict)
            else [{**one.body, name: value} for name in one.body for value in VALUES]
        )
        for body in bodies:
            content = json.dumps(body).encode()
            headers = {"Content-Type": "application/json"}
            users.document.check(one, users.ben.request(one.method, one.path, content=content, headers=headers))
        for name in one.queries:
            for value in ("", "\0", "-1", "9" * 30, "x", "é", "%ff"):
                users.document.check(one, users.ben.request(one.method, one.path, params={name: value}, json=one.body))
        if one.path.count("chunk-1"):
            for value in ("%00", "%ff", "..%2f..%2fmetrics", "a" * 5_000, "%F0%9F%92%A9"):
                path = one.path.replace("chunk-1", value)
                answer = users.ben.request(one.method, path, json=one.body)
                assert answer.status_code in {400, 404, 422}, (one, answer.text)
                assert answer.json()["error"]["request_id"]


def test_every_route_needs_a_key(users: Users) -> None:
    nobody = {"Authorization": "Bearer ng-unknown"}
    for one in users.document.operations("text"):
        if one.path != "/health":
            answer = users.ben.request(one.method, one.path, json=one.body, headers=nobody)
            assert answer.status_code == 401, one
            users.document.check(one, answer)


def test_a_key_of_a_user_names_no_other_user(users: Users) -> None:
    for one in users.document.operations("text"):
        if one.path.startswith("/v1/"):
            answer = users.ben.request(one.method, one.path, params={"user_id": "ana"}, json=one.body)
            assert answer.status_code == 403, one
