"""What holds for every route that the OpenAPI document names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from tests.served import Servers, client

Json = Any
_TIME = "2026-03-01T12:00:00Z"


@dataclass(frozen=True)
class Operation:
    """One method of one path."""

    name: str
    method: str
    path: str
    queries: Mapping[str, Json]
    body: Json
    answers: Mapping[str, Json]


class Document:
    """An OpenAPI document."""

    def __init__(self, document: Json) -> None:
        self._document = document

    def operations(self, text: str) -> Iterator[Operation]:
        """Yield every operation, with values for its required and its optional parts: `text` wherever text fits."""
        for path, methods in self._document["paths"].items():
            for method, one in methods.items():
                parts = {
                    part["name"]: part["schema"] for part in one.get("parameters", ()) if part["name"] != "user_id"
                }
                values = {name: self.sample(schema, text) for name, schema in parts.items()}
                named = {name: value for name, value in values.items() if "{" + name + "}" in path}
                content = one.get("requestBody", {}).get("content", {}).get("application/json")
                body = None if content is None else self.sample(content["schema"], text)
                queries = {name: value for name, value in values.items() if name not in named}
                yield Operation(
                    one["operationId"], method.upper(), path.format(**named), queries, body, one["responses"]
                )

    def sample(self, schema: Json, text: str) -> Json:
        """Return a value of a schema."""
        if "$ref" in schema:
            schema = self._document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        if options := schema.get("anyOf", schema.get("oneOf")):
            return self.sample(options[0], text)
        if "const" in schema or "enum" in schema:
            return schema.get("const", schema.get("enum", [None])[0])
        fields, needed = schema.get("properties", {}), schema.get("required", ())
        values: dict[str, Json] = {
            "boolean": True,
            "integer": schema.get("minimum", 1),
            "number": schema.get("minimum", 1),
            "array": [self.sample(schema.get("items", {}), text)] if "items" in schema else [],
            "object": {name: self.sample(one, text) for name, one in fields.items() if name in needed},
        }
        return values.get(schema.get("type"), _TIME if schema.get("format") == "date-time" else text)

    def check(self, operation: Operation, answer: httpx.Response) -> None:
        """Check that the document has the answer's status, and that its body fits."""
        described = operation.answers[str(answer.status_code)]["content"]
        kind = answer.headers["content-type"].partition(";")[0]
        assert kind in described, (operation.name, kind)
        if kind == "application/json":
            schema = {**described[kind]["schema"], "components": self._document["components"]}
            Draft202012Validator(schema).validate(answer.json())


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
