"""One table describes the public calls. Every door takes its arguments from it, and their values arrive."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from neurogated import MemoryConfig, NeuroGraphMemory, components
from neurogated.cli import main
from neurogated.cli.app import COMMANDS
from neurogated.components.expressions import _Runner
from neurogated.components.texts import page_of
from neurogated.core.filters import Condition
from neurogated.errors import NeurogatedError
from neurogated.integrations.mcp.server import build
from neurogated.integrations.mcp.tools import ServedOwner
from neurogated.operations import OPERATIONS, REQUIRED, Argument, at_door, told
from neurogated.server import create_app
from tests.integrations.mcp_clients import client_within

Values = dict[str, Any]
Ask = Callable[[str, str, Values], tuple[str, str]]
"""Calls an operation at a door. Returns what it answers, and what it tells of older names."""
Arrived = list[tuple[str, str, Any]]
"""Each value that reached a public call of the memory: the call, the parameter and the value."""

_DOORS = [(name, door) for name, one in OPERATIONS.items() for door in one.doors]
_NEEDY = [(name, door) for name, door in _DOORS if any(one.default is REQUIRED for one in OPERATIONS[name].doors[door])]
_RENAMED = [(name, door, one) for name, door in _DOORS for one in OPERATIONS[name].doors[door] if one.was]
_CONFLICT = "conflict-f93eca345439501ced46fb70010b11da"
"""The id follows from what the two facts say."""
_DAY, _LATER = "2026-02-03T04:05:06+00:00", "2037-02-03T04:05:06+00:00"
_VALUES: Values = {
    "action": "update", "agent_id": "agent-7", "as_of": 1, "because": "she said so", "content": "Ana likes jam.",
    "decay": 0.47, "depth": 7, "event": "Ana went.", "explain": True, "expression": "(stats)", "ids": ["a"],
    "half_life": 7.5, "importance": 0.37, "keep": "both", "limit": 7, "metadata": {"seven": 7}, "min_confidence": 0.17,
    "min_score": 0.27, "newest": True, "outcome": "fail", "path": ["path-7"], "query": "What about seven?",
    "read_only": True,
    "relation": "seventh", "role": "assistant", "role_map": {"seven": "user"}, "session_id": "session-7",
    "speaker": "Seven", "speakers_in_text": True, "status": "resolved", "steps": 7, "subject": "Ana",
    "attribute": "city", "value": "Lyon", "tags": ["seven"], "text": "Ana likes seven.", "threshold": 0.07,
    "timezone": "Asia/Tokyo", "title": "Seven", "token_budget": 77, "top": 7, "top_n": 7, "ttl": 7.0, "to": 7,
    "type": "event", "user_id": "ana", "weight": 0.57, "where": None, "cursor": None, "last": 7, "call": None,
    "all_users": None,
    **dict.fromkeys(("from", "id", "node_id", "start", "seeds", "memory_id"), "a"), "conflict_id": _CONFLICT,
    **dict.fromkeys(("expires_at", "now", "timestamp", "valid_at", "valid_from"), _DAY), "valid_to": _LATER,
}  # fmt: skip
_OF_EXPRESSIONS: Values = {"seeds": ["a"], "ttl": "7d", "to": "a", "where": '(= "seven" 7)', "call": "(stats)"}
_READ: Mapping[tuple[str, str], Any] = {
    ("expression", "7d"): timedelta(days=7).total_seconds(),
    ("expression", '(= "seven" 7)'): "condition",
    ("expression", "fail"): -1.0,
    ("record", "fail"): -1.0,
    ("feedback", "fail"): -1.0,
}
"""What a value is at a door that writes it in another form."""
_CALLED: Mapping[str, frozenset[str]] = {
    "query": frozenset({"task"}), "text": frozenset({"content"}), "to": frozenset({"target", "sequence"}),
    "type": frozenset({"kind"}), "from": frozenset({"source"}), "id": frozenset({"name", "only_ids", "node_id", "id"}),
    "ids": frozenset({"relevant_node_ids", "relevant"}), "content": frozenset({"text"}), "event": frozenset({"what"}),
}  # fmt: skip
"""The parameters of Python that have other names than the arguments of doors."""
_AT_THE_DOOR = {"explain", "cursor", "speakers_in_text", "last", "top", "action", "call", "add", ("facts", "limit")}
_AT_THE_DOOR |= {("history", "limit")}
"""Arguments that say what a door does or shows; tests of the doors have them."""
_BY_ID = {"read", "update", "delete", "history", "feedback"}
"""Operations that look themselves whose memories these are; see tests/server/test_app.py."""
_ALONE = {"expires_at", "speakers_in_text", "role_map", "cursor", "as_of"}
"""Arguments that stand beside no others."""
_TALKS = {"chat", "repl"}
"""Commands that ask for lines."""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[NeuroGraphMemory]:
    """Yield the memory of the doors besides the command line, which has one of its own."""
    with NeuroGraphMemory(MemoryConfig(embedding_name="hash", save_dir=str(tmp_path))) as memory:
        _fill(memory)
    with NeuroGraphMemory(MemoryConfig(embedding_name="hash", storage="memory")) as memory:
        _fill(memory)
        yield memory


def _fill(memory: NeuroGraphMemory) -> None:
    memory.add("Ana likes tea.", id="a", user_id="ana")
    for city in ("Lyon", "Oslo"):
        memory.facts.add("Ana", "home", city, user_id="ana")


class Doors:
    """Calls operations as the user Ana."""

    def __init__(self, memory: NeuroGraphMemory, folder: Path, out: pytest.CaptureFixture[str]) -> None:
        self._memory, self._folder, self._out = memory, folder, out

    def ask(self, name: str, door: str, given: Values) -> tuple[str, str]:
        """Return what a door answers, and what it tells of older names."""
        if "/" in door:
            method, path = door.split()
            return anyio.run(self._rest, method, path, given)
        if door == "tool":
            return anyio.run(self._tool, name, given)
        return self._expression(name, given) if door == "expression" else self._command(door, given)

    async def _rest(self, method: str, path: str, given: Values) -> tuple[str, str]:
        app = create_app(self._memory)
        transport, sent = httpx.ASGITransport(app), {"Content-Type": "application/json"}
        async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, headers=sent) as client:
            names = {"memory_id": given.get("memory_id", "a"), "conflict_id": _CONFLICT}
            address = f"http://localhost/v1{path.format_map(names)}"
            # The changes of one user have no numbers.
            asked = ({} if "to" in given else {"user_id": "ana"}) | (given if method == "GET" else {})
            body = given if method in {"POST", "PATCH"} else None
            answer = await client.request(
                method, address, params=asked, content=None if body is None else json.dumps(body)
            )
        return answer.text, answer.headers.get("warning", "")

    async def _tool(self, name: str, given: Values) -> tuple[str, str]:
        if name == "recall":
            # Without it, keywords alone may answer until the model is loaded.
            given = {"min_confidence": 0, **given}
        async with client_within(build(self._memory, ServedOwner("ana"))) as client:
            result = await client.call_tool(name, given)
        return str(result.content), str((result.structured_content or {}).get("notes", ""))

    def _expression(self, name: str, given: Values) -> tuple[str, str]:
        words = (f":{key} {value if key in {'where', 'call'} else _form(value)}" for key, value in given.items())
        with told() as sentences:
            try:
                answer = str(self._memory.execute(f"({name} {' '.join(words)})", user_id="ana"))
            except NeurogatedError as error:
                answer = str(error)
        return answer, " ".join(sentences)

    def _command(self, door: str, given: Values) -> tuple[str, str]:
        words, flags, arguments = list[str](), list[str](), at_door(door)
        for key, value in given.items():
            one = arguments.get(key)
            texts = list(map(str, value)) if isinstance(value, list) else [str(value)]
            if one is not None and one.mark != "!" and _is_word(one):
                words += texts
            elif key == "add":
                flags += ["--add", "Ana", "city", "Lyon"]
            else:
                flags.append(f"--{key}" if value is True else f"--{key}={texts[0]}")
        main([door, *words, *flags, "--save_dir", str(self._folder), "--embedding_name", "hash"])
        err = self._out.readouterr().err
        return err, err


@pytest.fixture
def ask(memory: NeuroGraphMemory, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    return Doors(memory, tmp_path, capsys).ask


@pytest.fixture
def arrived(monkeypatch: pytest.MonkeyPatch) -> Arrived:
    """Return the list of all values that reach a public call."""
    found: Arrived = []

    def watched(method: Callable[..., Any], name: str) -> Callable[..., Any]:
        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - those of any method
            bound = inspect.signature(method).bind(*args, **kwargs).arguments
            found.extend((name, key, value) for key, value in _flat(dict(list(bound.items())[1:])))
            return method(*args, **kwargs)

        return call

    modules = [
        importlib.import_module(one.name) for one in pkgutil.iter_modules(components.__path__, "neurogated.components.")
    ]
    kinds = {
        NeuroGraphMemory,
        _Runner,
        *(
            kind
            for module in modules
            for _, kind in inspect.getmembers(module, inspect.isclass)
            if kind.__module__ == module.__name__
        ),
    }
    monkeypatch.setattr("neurogated.server.routes.page_of", watched(page_of, "page_of"))
    for kind in kinds:
        for name, method in list(vars(kind).items()):
            if inspect.isfunction(method) and not name.startswith("_"):
                monkeypatch.setattr(kind, name, watched(method, f"{kind.__name__}.{name}"))
    return found


def _is_word(one: Argument) -> bool:
    """Return whether a command line needs an argument."""
    return one.mark == "??" or one.default is REQUIRED


def _form(value: object) -> str:
    return f"(list {' '.join(map(_form, value))})" if isinstance(value, list) else json.dumps(value)


def _flat(values: Mapping[str, Any], levels: int = 4) -> Iterator[tuple[str, Any]]:
    """Yield values of JSON by name, also those within options, documents and lists of them."""
    for name, value in values.items():
        if isinstance(plain := _plain(value), bool | int | float | str | list | dict):
            yield name, plain
        for one in value if isinstance(value, list | tuple) and levels else [value]:
            if dataclasses.is_dataclass(one) and not isinstance(one, type):
                yield from _flat(
                    {field.name: getattr(one, field.name) for field in dataclasses.fields(one)}, levels - 1
                )
            elif isinstance(one, Mapping) and levels:
                yield from _flat(one, levels - 1)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Condition):
        return "condition"
    if isinstance(value, tuple | list | frozenset):
        return list(map(_plain, value))
    return value


def _all(name: str, door: str) -> Iterator[Values]:
    """Yield values for all arguments of an operation at a door, in as few calls as they fit."""
    own = _VALUES | (_OF_EXPRESSIONS if door == "expression" else {})
    given = {one.name: own[one.name] for one in OPERATIONS[name].doors[door] if own[one.name] is not None}
    needed = {one.name: given[one.name] for one in OPERATIONS[name].doors[door] if _is_word(one)}
    yield {key: value for key, value in given.items() if key not in _ALONE}
    yield from ({**needed, alone: given[alone]} for alone in sorted(_ALONE & given.keys()))
    if (name, door) == ("facts", "facts"):
        times = ("timestamp", "valid_from", "valid_to")
        yield {"user_id": "ana", **{key: given[key] for key in times}, "add": "Ana"}


def _under(arrived: Arrived, name: str, value: object) -> Arrived:
    """Return where a value arrived under the name of its argument, or under that of Python."""
    names = {name} | _CALLED.get(name, frozenset())
    return [one for one in arrived if one[1] in names and one[2] in (value, [value])]


@pytest.mark.parametrize(("name", "door"), [one for one in _DOORS if one[1] not in _TALKS])
def test_every_value_arrives_under_its_name(ask: Ask, arrived: Arrived, name: str, door: str) -> None:
    wanted = dict[str, Any]()
    for given in _all(name, door):
        ask(name, door, given)
        wanted |= given
    for key in wanted.keys() - _AT_THE_DOOR:
        if (name, key) in _AT_THE_DOOR:
            continue
        value = wanted[key]
        expected = _READ.get((door, value), value) if isinstance(value, str) else value
        assert _under(arrived, key, expected), f"{key} has not arrived"
    if "/" in door and name not in {"undo", *_BY_ID}:
        assert ("user_id", "ana") in [one[1:] for one in arrived]


@pytest.mark.parametrize(("name", "door"), _NEEDY)
def test_an_argument_that_is_missing_is_told_alike_at_every_door(ask: Ask, name: str, door: str) -> None:
    first = next(one for one in OPERATIONS[name].doors[door] if one.default is REQUIRED)
    assert f"'{first.name}' is missing" in ask(name, door, {})[0]


@pytest.mark.parametrize(("name", "door"), [one for one in _DOORS if OPERATIONS[one[0]].doors[one[1]]])
def test_an_argument_that_is_not_known_is_refused_at_every_door(
    ask: Ask, arrived: Arrived, name: str, door: str
) -> None:
    if door in _TALKS:
        return
    answer, _ = ask(name, door, {**next(iter(_all(name, door))), "sevens": 7})
    assert "sevens" in answer
    assert not [
        one for one in arrived if one[0].startswith("NeuroGraphMemory.") and one[0] != "NeuroGraphMemory.execute"
    ]


@pytest.mark.parametrize("door", OPERATIONS["recall"].doors)
@pytest.mark.parametrize("word", ["topn", "top_k"])
def test_the_name_that_is_meant_by_another_is_told_at_every_door(ask: Ask, door: str, word: str) -> None:
    assert re.search(r"did you mean (--|:)?top_n\?", ask("recall", door, {"query": "Tea?", word: 3})[0])


@pytest.mark.parametrize(("name", "door", "one"), _RENAMED)
def test_the_value_of_an_older_name_arrives_as_that_of_the_new_one_and_its_client_is_told_once(
    ask: Ask, arrived: Arrived, name: str, door: str, one: Argument
) -> None:
    needed = [other.name for other in OPERATIONS[name].doors[door] if other.default is REQUIRED and other is not one]
    given = {other: _VALUES[other] for other in needed}
    calls = []
    for key in (one.name, one.was):
        arrived.clear()
        _, sentences = ask(name, door, {**given, key: _VALUES[one.name]})
        calls.append(_under(arrived, one.name, _VALUES[one.name]))
    assert calls[0] == calls[1] != []
    assert sentences.count("the next version refuses the old name") == 1
    assert one.was in sentences
    assert one.name in sentences


@pytest.mark.parametrize(("name", "door", "one"), _RENAMED)
def test_an_older_name_beside_its_new_one_is_refused(
    ask: Ask, arrived: Arrived, name: str, door: str, one: Argument
) -> None:
    given = {other.name: _VALUES[other.name] for other in OPERATIONS[name].doors[door] if other.default is REQUIRED}
    answer, _ = ask(name, door, {**given, one.name: _VALUES[one.name], one.was: _VALUES[one.name]})
    assert one.was in answer
    assert not [found for found in arrived if found[0] in {"NeuroGraphMemory.recall", "NeuroGraphMemory.get_context"}]


def test_every_door_serves_what_the_table_says(memory: NeuroGraphMemory) -> None:
    paths = create_app(memory).openapi()["paths"].items()
    served = {f"{method.upper()} {path.removeprefix('/v1')}" for path, methods in paths for method in methods}
    tools = {one.name: one for one in anyio.run(build(memory).list_tools)}
    for name, door in _DOORS:
        arguments = OPERATIONS[name].doors[door]
        if "/" in door:
            assert door in served
        elif door == "tool":
            assert list(tools[name].input_schema["properties"]) == [one.name for one in arguments]
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
    shown = capsys.readouterr()
    assert "I moved to Lyon." in shown.out
    assert "refuses" not in shown.err


_DELETIONS: Sequence[tuple[str, str, Callable[[str], Values]]] = (
    ("delete", "DELETE /memories/{memory_id}", lambda name: {"memory_id": name}),
    ("correct", "tool", lambda name: {"id": name, "action": "forget"}),
)


@pytest.mark.parametrize(("name", "door", "given"), _DELETIONS)
def test_a_deletion_is_told_apart_from_a_second_one_and_from_that_of_what_was_never_there(
    memory: NeuroGraphMemory, ask: Ask, name: str, door: str, given: Callable[[str], Values]
) -> None:
    memory.add("Bo likes jam.", id="of bo", user_id="bo")
    assert memory.delete("of bo") == 1
    assert memory.delete("of bo") == memory.delete_document("of bo") == memory.delete(user_id="bo") == 0
    first, second, *others = (ask(name, door, given(one))[0] for one in ("a", "a", "never", "of bo"))
    told = ('{"count":1}', '{"count":0}') if "/" in door else ("forgotten", "forgotten before")
    assert all(word in answer for word, answer in zip(told, (first, second), strict=True))
    assert first != second
    assert all("there is no memory" in answer for answer in others)


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize(
    ("words", "unknown", "why"),
    [
        (["a"], ["never"], "they were deleted before"),
        (["--document", "a"], ["--document", "never"], "they were deleted before"),
        (["--user_id", "ana"], None, "this user has none"),
    ],
)
def test_a_command_deletes_a_second_time_without_an_error(
    words: list[str], unknown: list[str] | None, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["--save_dir", str(tmp_path), "--embedding_name", "hash"]
    assert main(["delete", *words, *common]) == 0
    assert "; " not in capsys.readouterr().out
    assert main(["delete", *words, *common]) == 0
    assert capsys.readouterr().out == f"0 memories deleted; {why}\n"
    if unknown:
        assert main(["delete", *unknown, *common]) == 1
        assert "'never' in the memory" in capsys.readouterr().err


HALF, WHOLE = "seven\ud83d", "seven\ufffd"


def test_half_a_character_in_words_and_tags_is_replaced_at_every_door(
    memory: NeuroGraphMemory, ask: Ask, tmp_path: Path
) -> None:
    ask("remember", "tool", {"text": HALF, "tags": [HALF]})
    ask("remember", "expression", {"text": f"Here {HALF}", "tags": [HALF]})
    words = {"content": [f"There {HALF}"], "tags": [HALF], "title": HALF, "metadata": {HALF: HALF}}
    ask("add", "POST /memories", words)
    memory.add(f"Last {HALF}", tags=[HALF], user_id="ana")
    stored = {one.content: one.tags for one in memory.list(user_id="ana") if "seven" in one.content}
    assert stored == {f"{word}{WHOLE}": (WHOLE,) for word in ("", "Here ", "There ", "Last ")}
    ask("add", "add", {"text": HALF, "tag": HALF, "title": HALF, "metadata": f"{HALF}={HALF}"})
    with NeuroGraphMemory(MemoryConfig(embedding_name="hash", save_dir=str(tmp_path))) as other:
        assert [(one.content, one.tags, one.title) for one in other.list()] == [(WHOLE, (WHOLE,), WHOLE)]


@pytest.mark.parametrize(
    ("name", "door"), [("add", "add"), ("list", "list"), ("recall", "ask"), ("context", "context")]
)
def test_half_a_character_in_the_name_of_a_user_is_refused_as_two_repaired_names_could_be_one(
    ask: Ask, name: str, door: str
) -> None:
    words = {} if name == "list" else {"text" if name == "add" else "query": "Tea."}
    assert "user_id has a lone surrogate at character 5" in ask(name, door, {**words, "user_id": HALF})[0]


def test_python_takes_older_names_with_a_warning(memory: NeuroGraphMemory) -> None:
    older: Any = memory
    with pytest.warns(DeprecationWarning, match=r"get_context\(task=…\) is now query=…"):
        assert "tea" in older.get_context(task="What does Ana like?", user_id="ana").text
    with pytest.warns(DeprecationWarning, match=r"as_text\(max_tokens=…\) is now token_budget=…") as told:
        assert "tea" in older.recall("What does Ana like?", user_id="ana").as_text(max_tokens=500)
    assert told[0].filename == __file__
    with pytest.warns(DeprecationWarning, match="token_budget"):
        assert older.manifest.text(budget=50, user_id="ana")
