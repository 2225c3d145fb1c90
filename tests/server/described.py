"""Requests that fit the OpenAPI document of a server, and answers checked by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from jsonschema import Draft202012Validator

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
