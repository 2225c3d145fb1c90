"""Tools within this process: arguments of odd forms, and what a server says of its memory before a model asks."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from jsonschema import Draft202012Validator
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.mcp.server import build
from neurogated.integrations.mcp.stdio import INSTRUCTIONS, saved_manifest, with_manifest
from neurogated.integrations.mcp.tools import ServedOwner, Tools
from tests.integrations.mcp_clients import HASH, INITIALIZE, Client, client_within, connected

JSON = ['{"theme": "dark"}', '["tea", "milk"]', "null", "[1, 2]", "12", "true", '"quoted"', "{"]


@pytest.fixture
def client(memory: NeuroGraphMemory) -> Iterator[Client]:
    with connected(client_within(build(memory, ServedOwner("ana"), memory_tool=True))) as client:
        yield client


def test_texts_that_look_like_json_are_stored_and_corrected_as_they_are(
    memory: NeuroGraphMemory, client: Client
) -> None:
    for text in JSON:
        (found,) = client.call("remember", text="An earlier text.")["ids"]
        client.call("correct", id=found, action="update", text=text)
        assert memory.list(user_id="ana")[-1].content == text
        client.call("correct", id=memory.list(user_id="ana")[-1].id, action="forget")
        (found,) = client.call("remember", text=text)["ids"]
        assert memory.get(found).content == text
        client.call("correct", id=found, action="forget")


def test_the_schemas_of_tools_say_every_bound_in_words_of_json_schema(client: Client) -> None:
    known = {*Draft202012Validator.VALIDATORS, "title", "description", "default", "examples", "format", "$defs"}

    def keywords(schema: object, *, names: bool = False) -> set[str]:
        if isinstance(schema, list):
            return set().union(*map(keywords, schema))
        if not isinstance(schema, dict):
            return set()
        inner = (keywords(one, names=name in {"properties", "$defs"} and not names) for name, one in schema.items())
        return set().union(set() if names else schema, *inner)

    tools = client.tools()
    for one in tools.values():
        assert keywords([one.input_schema, one.output_schema]) <= known, one.name
    for name, given, wrong in (
        ("recall", {"query": "Ben"}, {"top_n": 0}),
        ("recall", {"query": "Ben"}, {"min_confidence": 1.5}),
        ("context", {"query": "Ben"}, {"token_budget": 10**6}),
        ("remember", {"text": "Ben"}, {"importance": -1}),
    ):
        schema = Draft202012Validator(tools[name].input_schema)
        assert schema.is_valid(given)
        assert not schema.is_valid({**given, **wrong})
        assert next(iter(wrong)) in client.refused(name, **given, **wrong)


def test_a_client_names_the_zone_of_its_user(memory: NeuroGraphMemory, client: Client) -> None:
    memory.add("Ana met Ben.", timestamp="2026-05-03T23:30:00Z", user_id="ana")
    for zone, day in (("Asia/Tokyo", "4 May 2026"), ("America/Lima", "3 May 2026")):
        assert day in client.call("context", query="meet Ben", timezone=zone)["text"]
        client.call("recall", query="Whom did Ana meet on 4 May?", timezone=zone)
    assert "Atlantis" in client.refused("recall", query="Ben", timezone="Atlantis")


@pytest.mark.parametrize(
    ("given", "tags"),
    [
        ("tea, plum jam", ["plum jam", "tea"]),
        ('["tea", "jam"]', ["jam", "tea"]),
        ('"tea"', ["tea"]),
        ("tea", ["tea"]),
        ("", []),
        (["a, b"], ["a, b"]),
    ],
)
def test_a_text_is_read_as_a_list_where_one_is_wanted(
    memory: NeuroGraphMemory, client: Client, given: object, tags: list[str]
) -> None:
    (found,) = client.call("remember", text="Ana likes tea.", tags=given)["ids"]
    assert sorted(memory.get(found).tags) == tags


def test_a_crash_tells_the_client_nothing_of_its_reason(
    memory: NeuroGraphMemory, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("a secret path")

    monkeypatch.setattr(memory, "add", crash)
    assert client.refused("remember", text="a") == "remember failed; the log of the server has the reason"


def test_a_prompt_that_is_not_known_or_lacks_an_argument_is_an_error_of_the_protocol(client: Client) -> None:
    with pytest.raises(MCPError, match="there is no prompt 'nothing'; known are ask_memory") as refused:
        client.wait(client.session.get_prompt, "nothing")
    assert refused.value.error.code == INVALID_PARAMS
    with pytest.raises(MCPError, match="question") as refused:
        client.wait(client.session.get_prompt, "ask_memory", {})
    assert refused.value.error.code == INVALID_PARAMS


def test_what_was_repaired_is_told_to_the_model(client: Client) -> None:
    stored = client.call("remember", text="Ana likes\0tea.")
    (note,) = stored["notes"]
    assert "NUL" in note
    assert "notes" not in client.call("remember", text="Ana likes jam.")


def test_before_the_model_is_loaded_keywords_find_the_memories_of_the_owner_with_their_names(
    memory: NeuroGraphMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tools, "load", lambda _: None)
    memory.add("The kettle is Bob's.", user_id="bob")
    said = [{"role": "user", "name": "Ana", "content": f"The kettle leaks{'!' * n}"} for n in range(3)]
    names = memory.add(said, user_id="ana", session_id="s", timestamp="2026-05-03T12:00:00Z")
    with connected(client_within(build(memory, ServedOwner("ana")))) as client:
        answer = client.call("recall", query="kettle", top_n=2)
        first, second = answer["memories"]
        assert first["id"] != second["id"]
        assert {first["id"], second["id"]} < set(names)
        assert (first["content"], first["role"], first["speaker"]) == (memory.get(first["id"]).content, "user", "Ana")
        assert first["time"].startswith("2026-05-03T12:00")
        assert first["score"] >= second["score"] > 0
        assert len(answer["notes"]) == 1
        assert "keywords only" in answer["notes"][0]
        assert "confidence" not in answer
        nothing = client.call("recall", query="Bob")
        assert (nothing["memories"], len(nothing["notes"])) == ([], 2)
        assert "confidence" in client.call("recall", query="kettle", min_confidence=0)


def _first_answer(words: list[str]) -> str:
    """Return the instructions that a server gives before it has opened the memory."""
    command = [sys.executable, "-m", "neurogated", *words]
    done = subprocess.run(command, input=json.dumps(INITIALIZE) + "\n", capture_output=True, text=True, check=True)
    return str(json.loads(done.stdout)["result"]["instructions"])


def _description(client: Client) -> str:
    return str(client.tools()["recall"].description)


def test_the_manifest_is_in_the_description_a_resource_and_the_next_first_answer(tmp_path: Path) -> None:
    words = ["mcp", "--save_dir", str(tmp_path), *HASH, "--user_id", "ana"]

    def look() -> str:
        with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")) as memory:
            server = build(memory, ServedOwner("ana"), saved=saved_manifest(words))
            with connected(client_within(server)) as client:
                shown = client.read("memory://manifest")
                assert shown in _description(client)
                client.call("remember", text="Ana bought honey glasses.")
                client.call("recall", query="Ana bees")
                assert client.read("memory://manifest") == shown
            return shown

    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")) as memory:
        memory.add([f"Ana keeps {number} bees in Lyon." for number in range(40)], user_id="ana")
        memory.add([f"Bob has {number} submarines." for number in range(40)], user_id="bob")
        memory.add("The office door is red.")
    shown = look()
    assert "bees" in shown
    assert "submarines" not in shown
    # A few more memories change nothing, in no later process.
    assert look() == shown
    assert _first_answer(words) == with_manifest(INSTRUCTIONS, shown)
    assert _first_answer([*words[:-1], "bob"]) == INSTRUCTIONS


def test_clients_hear_once_that_the_list_of_tools_has_changed(tmp_path: Path) -> None:
    config = MemoryConfig(save_dir=str(tmp_path), embedding_name="hash").replace(manifest={"update_threshold": 3})
    heard, told = list[str](), Event()

    async def hear(message: object) -> None:
        heard.append(type(message).__name__)
        told.set()

    with NeuroGraphMemory(config) as memory:
        memory.add([f"Ana keeps {number} bees in Lyon." for number in range(8)])
        with connected(client_within(build(memory), hear)) as client:
            before = _description(client)
            for number in range(2):
                client.call("remember", text=f"Ana reads book {number} about submarines.")
            assert _description(client) == before
            for number in range(2, 5):
                client.call("remember", text=f"Ana reads book {number} about submarines.")
            assert told.wait(30)
            assert "submarines" in _description(client)
            client.wait(client.session.send_ping)
    assert heard == ["ToolListChangedNotification"]


def test_words_of_others_and_of_deleted_memories_are_not_shown(tmp_path: Path) -> None:
    words = ["mcp", "--save_dir", str(tmp_path), *HASH]
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")) as memory:
        memory.add(["Ana keeps bees.", "Ana sells honey."], user_id="ana")
        ids = memory.add(["The office door is red.", "The office has a garden."])
        shown = build(memory, saved=saved_manifest(words)).overview.text()
        assert "office" in shown
        assert not {"bees", "honey", "Ana"}.intersection(shown.split())
        assert "office" not in build(memory, ServedOwner(path=("house",))).overview.text()
        running, starting = build(memory, saved=saved_manifest(words)), build(memory, saved=saved_manifest(words))
        assert running.overview.text() == shown
        with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")) as other:
            other.delete(ids)
        assert running.overview.text() == starting.overview.text() == ""
    assert "office" not in saved_manifest(words).text
