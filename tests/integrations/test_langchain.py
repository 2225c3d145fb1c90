"""LangChain's retriever, chat history and agents over a memory."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import PIIMiddleware, SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables import Runnable
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import InputError
from neurogated.integrations.langchain import ChatModel, MemoryChatHistory, MemoryRetriever
from neurogated.integrations.langchain_agents import MemoryMiddleware
from tests.integrations.langgraph.words import plain_chat

QUESTION = "What is the name of my heron?"
FACT = "The name of my heron is Ada."


class Script(GenericFakeChatModel):
    """Says the messages of a script, and records its prompts."""

    prompts: list[list[BaseMessage]] = []  # noqa: RUF012 - pydantic copies it

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        self.prompts.append(messages)
        return super()._generate(messages, *args, **kwargs)

    def bind_tools(self, *_: Any, **__: Any) -> Runnable[Any, AIMessage]:  # noqa: ANN401
        return self


def test_a_retriever_returns_documents_of_its_user_with_their_metadata(memory: NeuroGraphMemory) -> None:
    memory.add(FACT, user_id="ana", title="Birds", metadata={"place": "pond"}, timestamp="2026-05-03")
    memory.add("The name of my heron is Bo.", user_id="bob")
    ana, bob = (MemoryRetriever(memory=memory, user_id=user, options={"top_n": 3}) for user in ("ana", "bob"))
    (document,) = ana.invoke(QUESTION)
    assert document.page_content == FACT
    assert memory.get(str(document.id)).content == FACT
    assert {"place": "pond", "title": "Birds"}.items() <= document.metadata.items()
    assert document.metadata["timestamp"].startswith("2026-05-03")
    assert [one.page_content for one in asyncio.run(bob.ainvoke(QUESTION))] == ["The name of my heron is Bo."]
    assert MemoryRetriever(memory=memory).invoke(QUESTION) == []


def test_a_retriever_leaves_out_the_question_that_is_stored_before_it_is_asked(memory: NeuroGraphMemory) -> None:
    memory.add(FACT, user_id="ana", session_id="monday")
    memory.add([{"role": "user", "content": QUESTION}], user_id="ana", session_id="sunday")
    history = MemoryChatHistory(memory, "tuesday", user_id="ana")
    history.add_messages(
        [HumanMessage(QUESTION), AIMessage("", tool_calls=[{"name": "recall", "args": {"q": QUESTION}, "id": "1"}])]
    )
    found = MemoryRetriever(memory=memory, user_id="ana", session_id="tuesday").invoke(QUESTION)
    sessions = [str(memory.get(str(one.id)).scope.session_id) for one in found]
    assert sorted(sessions) == ["monday", "sunday"]


MESSAGES: list[BaseMessage] = [
    SystemMessage("Be brief."),
    HumanMessage([{"type": "text", "text": "What is this?"}, {"type": "image", "url": "https://x/y.png"}], id="h1"),
    AIMessage("", tool_calls=[{"name": "weather", "args": {"city": "Lyon"}, "id": "1"}], id="a1"),
    ToolMessage("18\0 degrees \ud83c " + "and sunny. " * 900, tool_call_id="1", artifact={"raw": [1, None]}),
    AIMessage(
        "It is 18 degrees.", usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}, name="bot"
    ),
]


def test_messages_come_back_as_they_went_in_also_after_reopening(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        history = MemoryChatHistory(memory, "monday", user_id="ana")
        history.add_messages(MESSAGES[:2])
        asyncio.run(history.aadd_messages(MESSAGES[2:]))
    with NeuroGraphMemory(config) as memory:
        assert MemoryChatHistory(memory, "monday", user_id="ana").messages == MESSAGES
        others = [("monday", "bob"), ("tuesday", "ana"), ("monday", None)]
        for session, user in others:
            assert MemoryChatHistory(memory, session, user_id=user).messages == []
        MemoryChatHistory(memory, "monday").add_messages([HumanMessage("Of nobody.")])
        assert len(MemoryChatHistory(memory, "monday", user_id="ana").messages) == len(MESSAGES)
        asyncio.run(MemoryChatHistory(memory, "monday", user_id="ana").aclear())
        assert MemoryChatHistory(memory, "monday", user_id="ana").messages == []
        assert len(MemoryChatHistory(memory, "monday").messages) == 1


@tool
def weather(city: str) -> str:
    """Return the weather."""
    return f"18 degrees in {city}"


@dataclass
class Context:
    user_id: str


CALL = AIMessage("", tool_calls=[{"name": "weather", "args": {"city": "Lyon"}, "id": "1"}])


def _agent(memory: NeuroGraphMemory, *answers: AIMessage | str, **more: Any) -> tuple[Any, Script]:  # noqa: ANN401
    model = Script(messages=iter(answers))
    middleware = [MemoryMiddleware(memory, agent_id="helper", **more.pop("options", {})), *more.pop("middleware", ())]
    return create_agent(model, tools=[weather], middleware=middleware, **more), model


def _ask(agent: Any, words: str, thread: str, user: str = "ana") -> Any:  # noqa: ANN401
    config = {"configurable": {"thread_id": thread}}
    return agent.invoke({"messages": [("user", words)]}, config, context=Context(user))


def _instructions(prompt: list[BaseMessage]) -> str:
    return "".join(one.text for one in prompt if isinstance(one, SystemMessage))


def test_an_agent_remembers_across_threads_and_never_across_users(memory: NeuroGraphMemory) -> None:
    options = {"system_prompt": "Be brief.", "checkpointer": InMemorySaver(), "context_schema": Context}
    agent, model = _agent(memory, "Noted.", CALL, "Ada, at 18 degrees.", "I do not know.", **options)
    _ask(agent, FACT, "monday")
    _ask(agent, QUESTION, "tuesday")
    _ask(agent, QUESTION, "wednesday", "bob")
    assert [_instructions(prompt) for prompt in (model.prompts[0], model.prompts[3])] == ["Be brief.", "Be brief."]
    for prompt in map(_instructions, model.prompts[1:3]):
        assert prompt.startswith("Be brief.\n\n")
        assert "Ada" in prompt
        assert QUESTION not in prompt
    said = memory.find(user_id="ana", session_id="tuesday")
    assert [(one.kind, one.role, one.scope.agent_id) for one in said] == [
        ("turn", "user", "helper"),
        ("call", "assistant", "helper"),
        ("turn", "tool", "helper"),
        ("turn", "assistant", "helper"),
    ]
    assert all(one.timestamp for one in said)


def test_a_run_that_is_repeated_neither_answers_itself_nor_is_stored_twice(memory: NeuroGraphMemory) -> None:
    agent, model = _agent(memory, *["I do not know."] * 4, options={"user_id": "ana", "options": {"min_score": -1.0}})
    asked = {"messages": [HumanMessage(QUESTION, id="h1")]}
    for _ in range(2):
        agent.invoke(asked, {"configurable": {"thread_id": "monday"}})
    assert QUESTION not in _instructions(model.prompts[-1])
    assert [one.role for one in memory.find(user_id="ana", session_id="monday")] == ["user", "assistant", "assistant"]
    # A client that sends messages without ids stores the question by other means.
    memory.add({"role": "user", "content": "Where is it?"}, user_id="ana", session_id="sunday")
    agent.invoke({"messages": [("user", "Where is it?")]}, {"configurable": {"thread_id": "sunday"}})
    assert "Where is it?" not in _instructions(model.prompts[-1])


def test_what_a_summary_replaces_during_a_run_is_stored_whole_and_no_summary_is(memory: NeuroGraphMemory) -> None:
    calls = [AIMessage("", tool_calls=[{"name": "weather", "args": {"city": "Lyon"}, "id": str(n)}]) for n in range(3)]
    summary = Script(messages=iter([AIMessage("In short.")] * 9))
    shorten = SummarizationMiddleware(summary, trigger=("messages", 4), keep=("messages", 2))
    given = {"checkpointer": InMemorySaver(), "context_schema": Context, "middleware": [shorten]}
    agent, _ = _agent(memory, *calls, "18 degrees.", "Ada.", **given)
    _ask(agent, "How is Lyon?", "monday")
    left = _ask(agent, QUESTION, "monday")["messages"]
    assert [one.text for one in left if isinstance(one, HumanMessage)][1:] == [QUESTION]
    said = memory.find(user_id="ana", session_id="monday")
    assert [one.content for one in said if one.role == "user"] == ["How is Lyon?", QUESTION]
    assert [(one.kind, one.role) for one in said] == [
        ("turn", "user"), *[("call", "assistant"), ("turn", "tool")] * 3,
        ("turn", "assistant"), ("turn", "user"), ("turn", "assistant"),
    ]  # fmt: skip


def test_a_question_and_an_answer_are_stored_as_other_middleware_leaves_them(memory: NeuroGraphMemory) -> None:
    hide = PIIMiddleware("email", strategy="redact", apply_to_input=True, apply_to_output=True)
    agent, _ = _agent(memory, "It is bo@example.org.", context_schema=Context, middleware=[hide])
    _ask(agent, "Is it ada@example.org?", "monday")
    said = [one.content for one in memory.find(user_id="ana")]
    assert said == ["Is it [REDACTED_EMAIL]?", "It is [REDACTED_EMAIL]."]


def test_a_run_without_a_user_is_refused(memory: NeuroGraphMemory) -> None:
    agent, _ = _agent(memory, "A.")
    with pytest.raises(InputError, match="user_id"):
        agent.invoke({"messages": [("user", "Hello.")]}, {"configurable": {"thread_id": "monday"}})
    agent.invoke({"messages": [("user", "Hello.")]}, {"configurable": {"thread_id": "monday", "user_id": "ana"}})
    assert memory.count(user_id="ana") == 2


BLOCKS: dict[str, dict[str, Any]] = {
    "video": {"type": "video", "url": "https://x/y.mp4"},
    "plain text": {"type": "text-plain", "text": "The heron is called Ada.", "mime_type": "text/plain"},
    "block of a later version": {"type": "hologram", "data": "AAAA"},
}


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_a_message_with_any_block_is_stored_with_its_text_and_its_original(
    memory: NeuroGraphMemory, block: dict[str, Any]
) -> None:
    message = HumanMessage([{"type": "text", "text": "What is this?"}, block], id="h1")
    history = MemoryChatHistory(memory, "monday", user_id="ana")
    history.add_messages([message])
    assert history.messages == [message]
    agent = create_agent(Script(messages=iter(["A heron."])), middleware=[MemoryMiddleware(memory, user_id="ana")])
    agent.invoke({"messages": [message]}, {"configurable": {"thread_id": "tuesday"}})
    words = "\n".join(["What is this?", *([block["text"]] if "text" in block else [])])
    for session, answer in (("monday", []), ("tuesday", ["A heron."])):
        said = memory.find(user_id="ana", session_id=session, order_by="position")
        assert [one.content for one in said] == [words, *answer]
        assert json.loads(said[0].metadata["original"])["data"]["content"] == message.content


@pytest.mark.parametrize(("use", "values"), [(None, ["Leeds"]), ("off", [])])
def test_a_chat_model_is_the_language_model_of_a_memory_unless_models_are_off(
    use: str | None, values: list[str]
) -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash").replace(llm={"use": use})
    with NeuroGraphMemory(config, llm=ChatModel(plain_chat())) as memory:
        memory.add({"role": "user", "content": "I live in Leeds."}, user_id="ana")
        assert memory.flush() == 0
        assert [fact.value for fact in memory.facts.list(user_id="ana")] == values
        assert memory.usage().get("calls", 0) == len(values)
