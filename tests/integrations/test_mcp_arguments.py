"""Arguments that clients send, such as texts that look like JSON, nulls, and texts for lists."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

import anyio
import pytest
from mcp import ClientSession
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.mcp.server import build
from neurogated.integrations.mcp.tools import ServedOwner
from tests.integrations.mcp_clients import call, client_within, refused

JSON = ['{"theme": "dark"}', '["tea", "milk"]', "null", "[1, 2]", "12", "true", '"quoted"', "{"]


@pytest.fixture
def memory() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        yield memory


def with_client(memory: NeuroGraphMemory, use: Callable[[ClientSession], Awaitable[None]]) -> None:
    async def run() -> None:
        async with client_within(build(memory, ServedOwner("ana"), memory_tool=True)) as client:
            await use(client)

    anyio.run(run)


def test_texts_that_look_like_json_are_stored_and_corrected_as_they_are(memory: NeuroGraphMemory) -> None:
    async def use(client: ClientSession) -> None:
        for text in JSON:
            (found,) = (await call(client, "remember", text="An earlier text."))["ids"]
            await call(client, "correct", id=found, action="update", text=text)
            assert memory.list(user_id="ana")[-1].content == text
            await call(client, "correct", id=memory.list(user_id="ana")[-1].id, action="forget")
            (found,) = (await call(client, "remember", text=text))["ids"]
            assert memory.get(found).content == text
            await call(client, "correct", id=found, action="forget")

    with_client(memory, use)


def test_a_truth_value_is_no_number(memory: NeuroGraphMemory) -> None:
    async def use(client: ClientSession) -> None:
        assert "'top_n'" in await refused(client, "recall", query="Ben", top_n=True)
        assert "'importance'" in await refused(client, "remember", text="Ben", importance=True)

    with_client(memory, use)


def test_a_client_names_the_zone_of_its_user(memory: NeuroGraphMemory) -> None:
    memory.add("Ana met Ben.", timestamp="2026-05-03T23:30:00Z", user_id="ana")

    async def use(client: ClientSession) -> None:
        for zone, day in (("Asia/Tokyo", "4 May 2026"), ("America/Lima", "3 May 2026")):
            assert day in (await call(client, "context", query="meet Ben", timezone=zone))["text"]
            await call(client, "recall", query="Whom did Ana meet on 4 May?", timezone=zone)
        assert "Atlantis" in await refused(client, "recall", query="Ben", timezone="Atlantis")

    with_client(memory, use)


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
def test_a_text_is_read_as_a_list_where_one_is_wanted(memory: NeuroGraphMemory, given: object, tags: list[str]) -> None:
    async def use(client: ClientSession) -> None:
        (found,) = (await call(client, "remember", text="Ana likes tea.", tags=given))["ids"]
        assert sorted(memory.get(found).tags) == tags

    with_client(memory, use)


def test_a_crash_tells_the_client_nothing_of_its_reason(
    memory: NeuroGraphMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("a secret path")

    monkeypatch.setattr(memory, "add", crash)

    async def use(client: ClientSession) -> None:
        assert await refused(client, "remember", text="a") == "remember failed; the log of the server has the reason"

    with_client(memory, use)


def test_a_prompt_that_is_not_known_or_lacks_an_argument_is_an_error_of_the_protocol(memory: NeuroGraphMemory) -> None:
    async def use(client: ClientSession) -> None:
        with pytest.raises(MCPError, match="there is no prompt 'nothing'; known are ask_memory") as refused:
            await client.get_prompt("nothing")
        assert refused.value.error.code == INVALID_PARAMS
        with pytest.raises(MCPError, match="question") as refused:
            await client.get_prompt("ask_memory", {})
        assert refused.value.error.code == INVALID_PARAMS

    with_client(memory, use)


def test_what_was_repaired_is_told_to_the_model(memory: NeuroGraphMemory) -> None:
    async def use(client: ClientSession) -> None:
        stored = await call(client, "remember", text="Ana likes\0tea.")
        (note,) = stored["notes"]
        assert "NUL" in note
        assert "notes" not in await call(client, "remember", text="Ana likes jam.")

    with_client(memory, use)
