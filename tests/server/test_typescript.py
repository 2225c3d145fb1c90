"""A client in TypeScript is generated from the OpenAPI document, without asking a network."""

import subprocess
from pathlib import Path

import httpx
import pytest

from tests.integrations.test_mcp_conformance import npm_program
from tests.served import Servers

pytestmark = [pytest.mark.slow, pytest.mark.nightly, pytest.mark.timeout(600)]

GENERATOR, COMPILER = "openapi-typescript@7.4.4", "typescript@5.7.3"
USE = """
import type { paths, operations } from "./schema";
const body: paths["/v1/recall"]["post"]["requestBody"]["content"]["application/json"] = { query: "Where?" };
type Recall = operations["recall"]["responses"][200]["content"]["application/json"];
export const best = (found: Recall): string | undefined => found.memories[0]?.node.content;
export const query: string = body.query;
"""


def test_the_document_makes_a_client_that_compiles(
    servers: Servers, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    cache = pytestconfig.cache
    assert cache is not None
    document = tmp_path / "openapi.json"
    document.write_text(httpx.get(f"{servers.start()}/openapi.json").text, encoding="utf-8")
    generate = npm_program(cache, GENERATOR, "openapi-typescript")
    compiler = npm_program(cache, COMPILER, "tsc")
    # A field with a default may be left out of a request.
    options = ["--default-non-nullable=false", "--output", str(tmp_path / "schema.ts")]
    subprocess.run([*generate, str(document), *options], check=True)
    (tmp_path / "use.ts").write_text(USE, encoding="utf-8")
    checked = [*compiler, "--noEmit", "--strict", "--skipLibCheck", str(tmp_path / "use.ts")]
    done = subprocess.run(checked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
