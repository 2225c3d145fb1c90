"""Messages in the formats of clients and frameworks: a text, a call, a result, a medium, and several of them.

Those in JSON are in `shapes.jsonl`; the objects of libraries are here.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from agent_framework import Content as AgentContent
from agent_framework import Message as AgentMessage
from anthropic.types import Message as AnthropicMessage
from anthropic.types import TextBlock, ToolUseBlock, Usage
from google.genai import types as genai
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, HumanMessageChunk, ToolMessage
from llama_index.core.base.llms.types import ChatMessage, DocumentBlock, ImageBlock, ToolCallBlock
from llama_index.core.base.llms.types import TextBlock as LlamaText
from openai.types.chat import ChatCompletionMessage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage

from tests.golden import rows

TEXT, REPLY, RESULT = "I live in Oban.", "You live in Oban.", "7 degrees"
ARGS: dict[str, object] = {"city": "Oban"}
WRITTEN = '{"city": "Oban"}'
URL = "https://example.org/boat"
PART = {"type": "text", "text": TEXT}

Expected = tuple[str, str, str]
"""Kind, role and content of a memory: of the first one of a message, or, in a list, of each."""
SAID: Expected = ("turn", "user", TEXT)
ANSWERED: Expected = ("turn", "assistant", REPLY)
CALLED: Expected = ("call", "assistant", 'weather(city="Oban")')
PLANNED: list[Expected] = [("turn", "assistant", "I look."), CALLED]
RETURNED: Expected = ("turn", "tool", RESULT)
VIDEO: Expected = ("placeholder", "user", "[video]")


@dataclass
class Spoken:
    """A message of a program of its own."""

    role: str
    content: Any


@dataclass
class Answer:
    """What such a program gets from a model."""

    message: Spoken


_CALL: dict[str, Any] = {"name": "weather", "args": ARGS, "id": "c1"}
_TOOL_USE: dict[str, Any] = {"type": "tool_use", "id": "c1", "name": "weather", "input": ARGS}
_LLAMA_CALL = ToolCallBlock(tool_call_id="c1", tool_name="weather", tool_kwargs=ARGS)
_LLAMA_FILE = DocumentBlock(data=b"AAAA", title="log.pdf", document_mimetype="application/pdf")
_LLAMA: dict[str, tuple[ChatMessage, Expected]] = {
    "text": (ChatMessage(role="user", content=TEXT), SAID),
    "call": (ChatMessage(role="assistant", blocks=[_LLAMA_CALL]), CALLED),
    "result": (ChatMessage(role="tool", content=RESULT, additional_kwargs={"tool_call_id": "c1"}), RETURNED),
    "media": (
        ChatMessage(role="user", blocks=[LlamaText(text=TEXT), _LLAMA_FILE]),
        ("turn", "user", f"{TEXT}\n[document: log.pdf]"),
    ),
    "image": (ChatMessage(role="user", blocks=[ImageBlock(url=URL)]), ("placeholder", "user", "[image]")),
}
_GEMINI_CALL: dict[str, Any] = {"name": "weather", "args": ARGS}
_GEMINI = {"candidates": [{"content": {"role": "model", "parts": [{"text": REPLY}]}}]}
_OBJECTS: dict[str, tuple[Any, Expected | list[Expected]]] = {
    "OpenAI chat": (ChatCompletionMessage(role="assistant", content=REPLY), ANSWERED),
    "OpenAI chat, a call": (
        ChatCompletionMessage.model_validate({
            "role": "assistant",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": WRITTEN}}],
        }),
        CALLED,
    ),
    "OpenAI Responses": (
        ResponseOutputMessage.model_validate({
            "id": "m1", "role": "assistant", "status": "completed", "type": "message",
            "content": [{"type": "output_text", "text": REPLY, "annotations": []}],
        }),
        ANSWERED,
    ),
    "OpenAI Responses, a call": (
        ResponseFunctionToolCall(call_id="c1", name="weather", arguments=WRITTEN, type="function_call"), CALLED,
    ),
    "Anthropic, a block": ({"role": "assistant", "content": [TextBlock(type="text", text=REPLY)]}, ANSWERED),
    "Anthropic, a call": ({"role": "assistant", "content": [ToolUseBlock(**_TOOL_USE)]}, CALLED),
    "Anthropic, a whole response": (
        AnthropicMessage(
            id="msg_1", type="message", role="assistant", model="claude", usage=Usage(input_tokens=1, output_tokens=1),
            content=[TextBlock(type="text", text=REPLY)],
        ),
        ANSWERED,
    ),
    "LangChain": (HumanMessage(TEXT), SAID),
    "LangChain, a call": (AIMessage("", tool_calls=[_CALL]), CALLED),
    "LangChain, a result": (ToolMessage(RESULT, tool_call_id="c1"), RETURNED),
    "LangChain, media": (HumanMessage([PART, {"type": "image_url", "image_url": {"url": URL}}]), SAID),
    "LangChain, a chunk": (HumanMessageChunk(content=TEXT), SAID),
    "LangChain, an answer in chunks": (AIMessageChunk(content=REPLY), ANSWERED),
    "LangChain, pairs": ([("human", TEXT)], SAID),
    "LangChain, a pair": (("ai", REPLY), ANSWERED),
    "LangChain, a standard text": (HumanMessage([{**PART, "type": "text-plain", "mime_type": "text/plain"}]), SAID),
    "LangChain, a standard call": (AIMessage([{"type": "tool_call", **_CALL}]), CALLED),
    "LangChain, a standard result": (
        AIMessage([{"type": "server_tool_result", "tool_call_id": "c1", "output": RESULT, "status": "success"}]),
        RETURNED,
    ),
    "LangChain, a standard file": (
        HumanMessage([PART, {"type": "file", "base64": "AAAA", "mime_type": "application/pdf"}]), SAID,
    ),
    "LangChain, a standard video": (HumanMessage([{"type": "video", "url": URL}]), VIDEO),
    "LangChain, media of Gemini": (HumanMessage([{"type": "media", "mime_type": "video/mp4", "data": "AAAA"}]), VIDEO),
    "LangChain, in order": (AIMessage([{**PART, "text": "I look."}, _TOOL_USE], tool_calls=[_CALL]), PLANNED),
    "LangGraph, a state": ({"messages": [HumanMessage(TEXT)], "step": 3}, SAID),
    "LangGraph, a state as an object": (
        SimpleNamespace(type="state", messages=[ToolMessage(RESULT, tool_call_id="c1")]), RETURNED,
    ),
    "Bedrock, a document": (
        {"role": "user", "content": [
            {"text": TEXT}, {"document": {"format": "pdf", "name": "log", "source": {"bytes": b"AAAA"}}},
        ]},
        ("turn", "user", f"{TEXT}\n[document: log]"),
    ),
    "Gemini": (genai.Content.model_validate({"role": "user", "parts": [{"text": TEXT}]}), SAID),
    "Gemini, a call": (genai.Content(role="model", parts=[genai.Part.from_function_call(**_GEMINI_CALL)]), CALLED),
    "Gemini, a whole answer": (genai.GenerateContentResponse.model_validate(_GEMINI), [ANSWERED]),
    **{f"LlamaIndex, {name}": case for name, case in _LLAMA.items()},
    **{f"LlamaIndex, dumped {name}": (one.model_dump(), wanted) for name, (one, wanted) in _LLAMA.items()},
    "LlamaIndex, in order": (
        ChatMessage(role="assistant", blocks=[_LLAMA_CALL, LlamaText(text=REPLY)]), [CALLED, ANSWERED],
    ),
    "Agent Framework": (AgentMessage("user", [TEXT]), SAID),
    "Agent Framework, a call": (
        AgentMessage("assistant", [AgentContent.from_function_call("c1", "weather", arguments=WRITTEN)]), CALLED,
    ),
    "Agent Framework, a result": (
        AgentMessage("tool", [AgentContent.from_function_result("c1", result=RESULT)]), RETURNED,
    ),
    "Agent Framework, media": (AgentMessage("user", [TEXT, AgentContent.from_uri(URL, media_type="image/png")]), SAID),
    "an object": (SimpleNamespace(role="user", content=TEXT), SAID),
    "an object with parts": (Spoken("assistant", [{**PART, "text": REPLY}]), ANSWERED),
    "an object with an object": (Answer(Spoken("assistant", REPLY)), [ANSWERED]),
}  # fmt: skip


def _expected(wanted: list[Any]) -> Expected | list[Expected]:
    if isinstance(wanted[0], str):
        kind, role, text = wanted
        return kind, role, text
    return [(kind, role, text) for kind, role, text in wanted]


SHAPES = _OBJECTS | {name: (message, _expected(wanted)) for name, message, wanted in rows(__file__, "shapes")}
