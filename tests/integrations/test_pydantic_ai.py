"""Pydantic AI's tools and history over a memory."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic_ai import Agent, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    ModelMessage,
    ModelMessagesTypeAdapter,
    SpeechPart,
    SystemPromptPart,
    TextContent,
    ThinkingPart,
    ToolReturnPart,
    UserContent,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import InputError
from neurogated.integrations.pydantic_ai import MemoryHistory, memory_toolset

QUESTION = "What is the name of my heron?"
FACT = "The name of my heron is Ada."


class Script:
    """Answers with the parts of a script, and records its prompts."""

    def __init__(self, *answers: Any) -> None:  # noqa: ANN401
        self.answers, self.prompts = iter(answers), list[list[ModelMessage]]()

    def __call__(self, messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        self.prompts.append(messages)
        answer = next(self.answers)
        return ModelResponse([TextPart(answer) if isinstance(answer, str) else answer])

    def told(self, place: int) -> str:
        parts = [part for message in self.prompts[place] for part in message.parts]
        return "\n".join(str(one.content) for one in parts if isinstance(one, SystemPromptPart))


def _results(prompt: list[ModelMessage]) -> list[str]:
    return [str(part.content) for part in prompt[-1].parts if isinstance(part, ToolReturnPart)]


@dataclass
class Deps:
    user_id: str


def test_an_agent_remembers_and_recalls_by_tools_for_each_user_apart(memory: NeuroGraphMemory) -> None:
    script = Script(
        ToolCallPart("remember", {"text": FACT}), "Noted.", ToolCallPart("recall", {"question": QUESTION}), "Ada.",
        ToolCallPart("recall", {"question": QUESTION}), "I do not know.",
    )  # fmt: skip
    tools = memory_toolset(memory, user_id=lambda run: run.deps.user_id, agent_id="helper")
    agent = Agent(FunctionModel(script), deps_type=Deps, toolsets=[tools])
    for user, words in (("ana", FACT), ("ana", QUESTION), ("bob", QUESTION)):
        asyncio.run(agent.run(words, deps=Deps(user)))
    results = [result for prompt in script.prompts[1::2] for result in _results(prompt)]
    assert results[0] == "remembered"
    assert FACT in results[1]
    assert results[2] == "nothing"
    (kept,) = memory.find(user_id="ana")
    assert (kept.content, kept.scope.agent_id, kept.timestamp is not None) == (FACT, "helper", True)


def test_a_tool_leaves_out_the_question_that_is_stored_before_it_is_asked(memory: NeuroGraphMemory) -> None:
    memory.add(FACT, user_id="ana", session_id="monday")
    memory.add({"role": "user", "content": QUESTION}, user_id="ana", session_id="tuesday")
    script = Script(ToolCallPart("recall", {"question": "name of the heron"}), "Ada.")
    agent = Agent(FunctionModel(script), toolsets=[memory_toolset(memory, user_id="ana")])
    asyncio.run(agent.run(QUESTION, conversation_id="tuesday"))
    (result,) = _results(script.prompts[1])
    assert FACT in result
    assert QUESTION not in result


MESSAGES: list[ModelMessage] = [
    ModelRequest([UserPromptPart(["What is\0 this?", BinaryContent(b"\x00\xff", media_type="image/png")])], run_id="r"),
    ModelResponse([ThinkingPart("Hm."), ToolCallPart("weather", {"city": "Lyon"}, tool_call_id="1")]),
    ModelRequest([ToolReturnPart("weather", {"degrees": 18}, tool_call_id="1")], instructions="Be brief."),
    ModelResponse([TextPart("It is 18 degrees. " * 500)], provider_details={"raw": [None, 1]}),
    ModelResponse([]),
]


def _written(messages: list[ModelMessage]) -> Any:  # noqa: ANN401 - JSON
    return ModelMessagesTypeAdapter.dump_python(messages, mode="json")


def test_messages_come_back_as_they_went_in_also_after_reopening(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        history = MemoryHistory(memory, "monday", user_id="ana")
        history.save(MESSAGES[:2])
        history.save(MESSAGES[2:])
        kinds = [(one.kind, one.role) for one in memory.find(user_id="ana", session_id="monday")]
        assert kinds[:3] == [("turn", "user"), ("call", "assistant"), ("turn", "tool")]
    with NeuroGraphMemory(config) as memory:
        assert _written(MemoryHistory(memory, "monday", user_id="ana").load()) == _written(MESSAGES)
        assert MemoryHistory(memory, "monday", user_id="bob").load() == []
        assert MemoryHistory(memory, "tuesday", user_id="ana").load() == []


def test_spoken_words_and_texts_with_metadata_are_words(memory: NeuroGraphMemory) -> None:
    texts: list[UserContent] = ["Look:", TextContent("my heron", metadata={"page": 3}), CachePoint(), "Ada."]
    messages: list[ModelMessage] = [
        ModelRequest([SpeechPart(speaker="user", transcript=FACT)]),
        ModelResponse([SpeechPart(speaker="assistant", transcript="Noted.")]),
        ModelRequest([UserPromptPart(texts)]),
    ]
    MemoryHistory(memory, "monday", user_id="ana").save(messages)
    said = [(one.role, one.content) for one in memory.find(user_id="ana")]
    assert said == [("user", FACT), ("assistant", "Noted."), ("user", "Look:\nmy heron\nAda.")]


def _ask(memory: NeuroGraphMemory, script: Script, words: str, session: str, user: str = "ana") -> None:
    history = MemoryHistory(memory, session, user_id=user)
    agent = Agent(FunctionModel(script), instructions="Be brief.", toolsets=[memory_toolset(memory, user_id=user)])
    process = [ProcessHistory(history.add_memories)]
    result = asyncio.run(agent.run(words, message_history=history.load(), capabilities=process))
    history.save(result.new_messages())


def test_an_agent_remembers_across_conversations_and_never_across_users(memory: NeuroGraphMemory) -> None:
    script = Script("Noted.", ToolCallPart("recall", {"question": QUESTION}), "Ada.", "I do not know.", "Bye.")
    _ask(memory, script, FACT, "monday")
    _ask(memory, script, QUESTION, "tuesday")
    _ask(memory, script, QUESTION, "wednesday", "bob")
    _ask(memory, script, "Thank you.", "tuesday")
    assert [script.told(place) for place in (0, 3)] == ["", ""]
    for place in (1, 2):
        assert "Ada" in script.told(place)
        assert QUESTION not in script.told(place)
    stored = MemoryHistory(memory, "tuesday", user_id="ana").load()
    assert [type(one).__name__ for one in stored] == ["ModelRequest", "ModelResponse"] * 3
    assert not any(isinstance(part, SystemPromptPart) for one in stored for part in one.parts)


def test_the_question_that_is_stored_before_it_is_asked_does_not_answer_itself(memory: NeuroGraphMemory) -> None:
    memory.add(FACT, user_id="ana")
    history = MemoryHistory(memory, "monday", user_id="ana", options={"min_score": -1.0})
    asked: list[ModelMessage] = [ModelRequest([UserPromptPart(QUESTION)])]
    history.save(asked)
    memories, _ = asyncio.run(history.add_memories(asked))
    assert "Ada" in str(memories.parts)
    assert QUESTION not in str(memories.parts)
    assert asyncio.run(history.add_memories([memories, *asked])) == [memories, *asked]
    assert asyncio.run(history.add_memories([])) == []


@pytest.mark.parametrize(("question", "length"), [("   ", 1), (f"{QUESTION} \ud800", 2)])
def test_a_question_that_is_blank_or_no_valid_text_does_not_end_the_run(
    memory: NeuroGraphMemory, question: str, length: int
) -> None:
    memory.add(FACT, user_id="ana")
    history = MemoryHistory(memory, "monday", user_id="ana")
    messages = asyncio.run(history.add_memories([ModelRequest([UserPromptPart(question)])]))
    assert len(messages) == length


def test_messages_that_are_added_as_such_are_refused_with_this_door(memory: NeuroGraphMemory) -> None:
    said: list[Any] = [ModelRequest([UserPromptPart(FACT)]), ModelResponse([TextPart(FACT)])]
    for message in (*said, *ModelMessagesTypeAdapter.dump_python(said, mode="json")):
        with pytest.raises(InputError, match=r"neurogated\.integrations\.pydantic_ai"):
            memory.add(message)
