"""One table describes the public calls. Every door takes its arguments from it, under the same names."""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.cli import main
from neurogated.cli.app import COMMANDS
from neurogated.components.expressions import _Runner
from neurogated.errors import ExpressionError
from neurogated.integrations.mcp.server import build
from neurogated.operations import OPERATIONS, REQUIRED, Argument
from neurogated.server import create_app
from tests.integrations.mcp_clients import client_within

Ask = Callable[[str, str, dict[str, Any]], str]
_DOORS = [(name, door) for name, one in OPERATIONS.items() for door in one.doors]
_NEEDY = [(name, door) for name, door in _DOORS if any(one.default is REQUIRED for one in OPERATIONS[name].doors[door])]
_RENAMED = [(name, door, one) for name, door in _DOORS for one in OPERATIONS[name].doors[door] if one.was]
_VALUES = {"query": "Where?", "keep": "both", "ids": ["a"], "top_n": 3, "token_budget": 50, "outcome": "success"}


@pytest.fixture(scope="module")
def memory() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(embedding_name="hash", storage="memory")) as memory:
        memory.add("Ana likes tea.", id="a")
        yield memory


@pytest.fixture
def ask(memory: NeuroGraphMemory, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Return a function that calls an operation at a door, and returns what it answers."""

    async def rest(method: str, path: str, given: dict[str, Any]) -> str:
        app = create_app(memory)
        transport = httpx.ASGITransport(app)
        async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport) as client:
            url = f"http://localhost/v1{path.format(memory_id='a', conflict_id='c')}"
            sent: dict[str, Any] = {"params": given} if method == "GET" else {"json": given}
            return (await client.request(method, url, **sent)).text

    async def tool(name: str, given: dict[str, Any]) -> str:
        async with client_within(build(memory)) as client:
            return str((await client.call_tool(name, given)).content)

    def call(name: str, door: str, given: dict[str, Any]) -> str:
        if "/" in door:
            method, path = door.split()
            return anyio.run(rest, method, path, given)
        if door == "tool":
            return anyio.run(tool, name, given)
        if door == "expression":
            words = (
                f":{key} {json.dumps(value[0] if isinstance(value, list) else value)}" for key, value in given.items()
            )
            try:
                return str(memory.execute(f"({name} {' '.join(words)})"))
            except ExpressionError as error:
                return str(error)
        line = [value if key == "query" else f"--{key}={value}" for key, value in given.items()]
        main([door, *line, "--save_dir", str(tmp_path)])
        return capsys.readouterr().err

    return call


@pytest.mark.parametrize(("name", "door"), _NEEDY)
def test_an_argument_that_is_missing_is_told_alike_at_every_door(ask: Ask, name: str, door: str) -> None:
    first = next(one for one in OPERATIONS[name].doors[door] if one.default is REQUIRED)
    assert f"'{first.name}' is missing" in ask(name, door, {})


@pytest.mark.parametrize(("name", "door", "one"), _RENAMED)
def test_an_older_name_is_taken_with_a_warning(
    ask: Ask, caplog: pytest.LogCaptureFixture, name: str, door: str, one: Argument
) -> None:
    needed = [other.name for other in OPERATIONS[name].doors[door] if other.default is REQUIRED and other is not one]
    with caplog.at_level(logging.WARNING):
        answer = ask(name, door, {**{other: _VALUES[other] for other in needed}, one.was: _VALUES[one.name]})
    told = f"{caplog.text} {answer}"
    assert one.was in told
    assert one.name in told
    assert "the next version refuses the old name" in told
    assert "is missing" not in answer
    assert "not known" not in answer


def test_every_door_serves_what_the_table_says(memory: NeuroGraphMemory) -> None:
    paths = create_app(memory).openapi()["paths"].items()
    served = {f"{method.upper()} {path.removeprefix('/v1')}" for path, methods in paths for method in methods}
    tools = {one.name for one in anyio.run(build(memory).list_tools)}
    for name, door in _DOORS:
        arguments = OPERATIONS[name].doors[door]
        if "/" in door:
            assert door in served
        elif door == "tool":
            assert name in tools
        elif door == "expression":
            method = getattr(_Runner, name.rstrip("!"))
            assert len(inspect.signature(method).parameters) == 1 + len(arguments)
        else:
            assert door in COMMANDS


@pytest.mark.parametrize("words", [["--save-dir", "x"], ["--save_dir=x"], ["--save-dir=x", "--read-only"]])
def test_a_flag_has_dashes_or_underscores(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", "save_dir", "--json", *words]) == 0
    assert capsys.readouterr().out == '{\n  "save_dir": "x"\n}\n'


def test_older_flags_of_owners_are_taken_with_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["--save-dir", str(tmp_path), "--embedding-name", "hash"]
    assert main(["add", "I moved to Lyon.", "--user", "ana", "--session=monday", *common]) == 0
    assert capsys.readouterr().err.count("the next version refuses the old name") == 2
    assert main(["list", "--user_id", "ana", "--session-id", "monday", *common]) == 0
    told = capsys.readouterr()
    assert "I moved to Lyon." in told.out
    assert "refuses" not in told.err


def test_python_takes_older_names_with_a_warning(memory: NeuroGraphMemory) -> None:
    older: Any = memory
    with pytest.warns(DeprecationWarning, match=r"get_context\(task=…\) is now query=…"):
        assert "tea" in older.get_context(task="What does Ana like?").text
    with pytest.warns(DeprecationWarning, match="token_budget"):
        assert older.manifest.text(budget=50)
