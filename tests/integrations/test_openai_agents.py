"""The session of the OpenAI Agents SDK over a memory."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from agents import Agent, RunConfig, Runner, Session, SessionSettings, SQLiteSession, function_tool
from agents.items import TResponseInputItem
from agents.testing import ScriptedModel, assistant_message, function_call

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.openai_agents import MemorySession

QUESTION = "What is the name of my heron?"
FACT = "The name of my heron is Ada."
ITEMS = cast(
    "list[TResponseInputItem]",
    [
        {"role": "user", "content": [{"type": "input_text", "text": "What is\0 this?"}, {"type": "input_image"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "A" * 9_000},
        {"type": "function_call", "call_id": "1", "name": "weather", "arguments": '{"city": "Lyon"}', "id": "fc_1"},
        {"type": "function_call_output", "call_id": "1", "output": "sunny. " * 2_000},
        {"type": "computer_call_output", "call_id": "2", "output": {"type": "computer_screenshot", "file_id": "f"}},
        {"type": "item_reference", "id": "msg_9"},
        {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "It is sunny."}],
        },
        {"role": "assistant", "content": ""},
    ],
)


@function_tool
def weather(city: str) -> str:
    """Return the weather."""
    return f"18 degrees in {city}"


def _ask(session: MemorySession, words: str, *steps: Any) -> ScriptedModel:  # noqa: ANN401
    model = ScriptedModel([[step] for step in steps])
    agent = Agent(name="helper", instructions="Be brief.", model=model, tools=[weather])
    config = RunConfig(call_model_input_filter=session.add_memories, tracing_disabled=True)
    asyncio.run(Runner.run(agent, words, session=session, run_config=config))
    return model


def test_items_come_back_as_they_went_in_also_after_reopening(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        session = MemorySession(memory, "monday", user_id="ana")
        assert isinstance(session, Session)
        for item in ITEMS:
            asyncio.run(session.add_items([item]))
        asyncio.run(session.add_items([]))
    with NeuroGraphMemory(config) as memory:
        session = MemorySession(memory, "monday", user_id="ana")
        assert asyncio.run(session.get_items()) == ITEMS
        for limit in range(len(ITEMS) + 3):
            assert asyncio.run(session.get_items(limit)) == ITEMS[max(0, len(ITEMS) - limit) :]
        few = MemorySession(memory, "monday", user_id="ana", session_settings=SessionSettings(limit=2))
        assert asyncio.run(few.get_items()) == ITEMS[-2:]
        others = [("monday", "bob"), ("tuesday", "ana"), ("monday", None)]
        for name, user in others:
            assert asyncio.run(MemorySession(memory, name, user_id=user).get_items()) == []


def test_an_item_without_words_is_not_recalled(memory: NeuroGraphMemory) -> None:
    asyncio.run(MemorySession(memory, "monday", user_id="ana").add_items(ITEMS))
    found = memory.recall("reasoning, item_reference", top_n=50, min_score=-1.0, user_id="ana")
    assert found.memories
    assert not [one.content for one in found if one.content.startswith("[")]
    named = memory.recall("reasoning", top_n=50, min_score=-1.0, user_id="ana", kinds=["placeholder"])
    assert "[reasoning]" in {one.content for one in named}


def test_a_session_behaves_as_theirs(memory: NeuroGraphMemory) -> None:
    async def use(session: Session) -> list[Any]:
        await session.add_items(ITEMS[:3])
        seen: list[Any] = [await session.get_items(), await session.get_items(2), await session.pop_item()]
        await session.add_items(ITEMS[5:])
        seen += [await session.get_items(), await session.pop_item(), await session.get_items(0)]
        await session.clear_session()
        return [*seen, await session.get_items(), await session.pop_item()]

    theirs = SQLiteSession("s")
    assert asyncio.run(use(MemorySession(memory, "s", user_id="ana"))) == asyncio.run(use(theirs))
    theirs.close()


def test_an_agent_remembers_across_sessions_and_never_across_users(memory: NeuroGraphMemory) -> None:
    def session(name: str, user: str) -> MemorySession:
        return MemorySession(memory, name, user_id=user, agent_id="helper")

    _ask(session("monday", "ana"), FACT, assistant_message("Noted."))
    steps = (function_call("weather", {"city": "Lyon"}, call_id="1"), assistant_message("Ada."))
    calls = _ask(session("tuesday", "ana"), QUESTION, *steps).calls
    assert len(calls) == 2
    for call in calls:
        assert str(call.system_instructions).startswith("Be brief.\n\n")
        assert "Ada" in str(call.system_instructions)
        assert QUESTION not in str(call.system_instructions)
    bob = session("wednesday", "bob")
    assert _ask(bob, QUESTION, assistant_message("I do not know.")).calls[0].system_instructions == "Be brief."
    said = asyncio.run(session("tuesday", "ana").get_items())
    assert [one.get("type", one.get("role")) for one in said] == [
        "user", "function_call", "function_call_output", "message",
    ]  # fmt: skip
    again = _ask(session("tuesday", "ana"), "Thank you.", assistant_message("Bye."))
    assert again.calls[0].input[: len(said)] == said


def test_an_agent_that_gets_a_nested_handoff_has_the_memories_too(memory: NeuroGraphMemory) -> None:
    memory.add(FACT, user_id="ana")
    second = ScriptedModel([[assistant_message("Ada.")]])
    first = ScriptedModel([[function_call("transfer_to_second", {}, call_id="1")]])
    agent = Agent(name="first", model=first, handoffs=[Agent(name="second", instructions="Be brief.", model=second)])
    session = MemorySession(memory, "monday", user_id="ana")
    config = RunConfig(nest_handoff_history=True, call_model_input_filter=session.add_memories, tracing_disabled=True)
    asyncio.run(Runner.run(agent, QUESTION, session=session, run_config=config))
    for model in (first, second):
        assert "Ada" in str(model.calls[0].system_instructions)


def test_items_of_nobody_are_none_of_a_user(memory: NeuroGraphMemory) -> None:
    nobody, ana = (MemorySession(memory, "monday", user_id=user) for user in (None, "ana"))
    asyncio.run(nobody.add_items(ITEMS[:1]))
    assert asyncio.run(ana.get_items()) == []
    assert asyncio.run(ana.pop_item()) is None
    assert asyncio.run(nobody.get_items()) == ITEMS[:1]
