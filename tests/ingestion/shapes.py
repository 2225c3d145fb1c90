"""Messages in the formats of clients and frameworks, as they document them: a text, a call, a result and a medium."""

# ruff: noqa: ANN401 - parts of any format

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from agent_framework import Content as AgentContent
from agent_framework import Message as AgentMessage
from anthropic.types import Message as AnthropicMessage
from anthropic.types import TextBlock, ToolUseBlock, Usage
from google.genai import types as genai
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    HumanMessageChunk,
    ToolMessage,
    message_to_dict,
)
from llama_index.core.base.llms.types import ChatMessage, DocumentBlock, ImageBlock, ToolCallBlock
from llama_index.core.base.llms.types import TextBlock as LlamaText
from openai.types.chat import ChatCompletionMessage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage

TEXT = "I live in Oban."
REPLY = "You live in Oban."
RESULT = "7 degrees"
ARGS: dict[str, object] = {"city": "Oban"}
WRITTEN = '{"city": "Oban"}'
URL = "https://example.org/boat"
CALL = 'weather(city="Oban")'

Expected = tuple[str, str, str]
"""Kind, role and content of a memory: of the first one of a message, or, in a list, of each."""
SAID: Expected = ("turn", "user", TEXT)
ANSWERED: Expected = ("turn", "assistant", REPLY)
CALLED: Expected = ("call", "assistant", CALL)
PLANNED: list[Expected] = [("turn", "assistant", "I look."), CALLED]
RETURNED: Expected = ("turn", "tool", RESULT)


def shown(name: str, text: str | None = TEXT, role: str = "user") -> Expected:
    """Return what a medium gives: a note with its name, below the text; or a placeholder."""
    note = f"[{name}]"
    return ("placeholder", role, note) if text is None else ("turn", role, f"{text}\n{note}")


@dataclass
class Spoken:
    """A message of a program of its own."""

    role: str
    content: Any


def said_by_user(*parts: Any, key: str = "content") -> dict[str, Any]:
    return {"role": "user", key: list(parts)}


def said_by_bot(*parts: Any, key: str = "content", role: str = "assistant") -> dict[str, Any]:
    return {"role": role, key: list(parts)}


def text_part(text: str = TEXT) -> dict[str, Any]:
    return {"type": "text", "text": text}


_OPENAI_CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": WRITTEN}}
_LC: dict[str, BaseMessage] = {
    "text": HumanMessage(TEXT),
    "call": AIMessage("", tool_calls=[{"name": "weather", "args": ARGS, "id": "c1"}]),
    "result": ToolMessage(RESULT, tool_call_id="c1"),
    "media": HumanMessage([text_part(), {"type": "image_url", "image_url": {"url": URL}}]),
}
_LC_WANTED = {"text": SAID, "call": CALLED, "result": RETURNED, "media": SAID}


def _langchain(form: Callable[[BaseMessage], Any]) -> dict[str, tuple[Any, Expected]]:
    return {column: (form(one), _LC_WANTED[column]) for column, one in _LC.items()}


def _llama(form: Callable[[ChatMessage], Any]) -> dict[str, tuple[Any, Expected]]:
    call = ToolCallBlock(tool_call_id="c1", tool_name="weather", tool_kwargs=ARGS)
    medium = DocumentBlock(data=b"AAAA", title="log.pdf", document_mimetype="application/pdf")
    return {
        "text": (form(ChatMessage(role="user", content=TEXT)), SAID),
        "call": (form(ChatMessage(role="assistant", blocks=[call])), CALLED),
        "result": (form(ChatMessage(role="tool", content=RESULT, additional_kwargs={"tool_call_id": "c1"})), RETURNED),
        "media": (form(ChatMessage(role="user", blocks=[LlamaText(text=TEXT), medium])), shown("document: log.pdf")),
        "image": (form(ChatMessage(role="user", blocks=[ImageBlock(url=URL)])), shown("image", None)),
    }


def _gemini(form: Callable[[dict[str, Any]], Any], *, camel: bool) -> dict[str, tuple[Any, Expected]]:
    def key(name: str) -> str:
        first, *rest = name.split("_")
        return first + "".join(map(str.title, rest)) if camel else name

    call = {key("function_call"): {"name": "weather", "args": ARGS}}
    result = {key("function_response"): {"name": "weather", "response": {"result": RESULT}}}
    medium = {key("inline_data"): {key("mime_type"): "image/png", "data": "AAAA", key("display_name"): "boat.png"}}
    return {
        "text": (form(said_by_user({"text": TEXT}, key="parts")), SAID),
        "call": (form(said_by_bot(call, key="parts", role="model")), CALLED),
        "result": (form(said_by_user(result, key="parts")), RETURNED),
        "media": (form(said_by_user({"text": TEXT}, medium, key="parts")), shown("image: boat.png")),
        "thought": (
            form(said_by_bot({"text": "Hm.", "thought": True}, {"text": REPLY}, key="parts", role="model")),
            ANSWERED,
        ),
    }


BEDROCK_CALL = {"toolUseId": "c1", "name": "weather", "input": ARGS}
_BEDROCK = {
    "text": (said_by_user({"text": TEXT}), SAID),
    "call": (said_by_bot({"toolUse": BEDROCK_CALL}), CALLED),
    "result": (
        said_by_user({"toolResult": {"toolUseId": "c1", "content": [{"text": RESULT}], "status": "success"}}),
        RETURNED,
    ),
    "media": (
        said_by_user({"text": TEXT}, {"document": {"format": "pdf", "name": "log", "source": {"bytes": b"AAAA"}}}),
        shown("document: log"),
    ),
}

COHERE_CALL = {"role": "assistant", "tool_plan": "I look.", "tool_calls": [_OPENAI_CALL]}

SHAPES: dict[str, Mapping[str, tuple[Any, Expected | list[Expected]]]] = {
    "OpenAI chat": {
        "text": ({"role": "user", "content": TEXT}, SAID),
        "call": ({"role": "assistant", "content": None, "tool_calls": [_OPENAI_CALL]}, CALLED),
        "media": (said_by_user(text_part(), {"type": "image_url", "image_url": {"url": URL}}), SAID),
    },
    "OpenAI chat, objects": {
        "text": (ChatCompletionMessage(role="assistant", content=REPLY), ANSWERED),
        "call": (ChatCompletionMessage.model_validate({"role": "assistant", "tool_calls": [_OPENAI_CALL]}), CALLED),
        "result": ({"role": "tool", "tool_call_id": "c1", "content": [text_part(RESULT)]}, RETURNED),
        "media": (
            said_by_user({"type": "file", "file": {"filename": "log.pdf", "file_data": "AA"}}),
            ("turn", "user", "[file: log.pdf]"),
        ),
    },
    "OpenAI chat, functions": {
        "call": ({"role": "assistant", "content": None, "function_call": _OPENAI_CALL["function"]}, CALLED),
    },
    "OpenAI chat, custom tools": {
        "call": (
            {
                "role": "assistant",
                "tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "weather", "input": WRITTEN}}],
            },
            CALLED,
        )
    },
    "OpenAI chat, audio": {
        "text": ({"role": "assistant", "content": None, "audio": {"id": "a1", "transcript": REPLY}}, ANSWERED),
        "media": (
            said_by_user({"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}),
            shown("audio", None),
        ),
    },
    "OpenAI chat, refusals": {
        "text": ({"role": "assistant", "content": None, "refusal": REPLY}, ANSWERED),
        "part": (said_by_bot({"type": "refusal", "refusal": REPLY}), ANSWERED),
    },
    "OpenAI Realtime": {
        "text": (said_by_user({"type": "input_audio", "transcript": TEXT}), ("turn", "user", TEXT)),
        "answer": (said_by_bot({"type": "output_audio", "transcript": REPLY}), ANSWERED),
    },
    "OpenAI Responses": {
        "text": ({"type": "message", **said_by_user({"type": "input_text", "text": TEXT})}, SAID),
        "call": ({"type": "function_call", "call_id": "c1", "name": "weather", "arguments": WRITTEN}, CALLED),
        "media": (
            said_by_user({"type": "input_text", "text": TEXT}, {"type": "input_file", "filename": "log.pdf"}),
            shown("file: log.pdf"),
        ),
    },
    "OpenAI Responses, objects": {
        "text": (
            ResponseOutputMessage.model_validate(
                {
                    "id": "m1",
                    "role": "assistant",
                    "status": "completed",
                    "type": "message",
                    "content": [{"type": "output_text", "text": REPLY, "annotations": []}],
                }
            ),
            ANSWERED,
        ),
        "call": (
            ResponseFunctionToolCall(call_id="c1", name="weather", arguments=WRITTEN, type="function_call"),
            CALLED,
        ),
    },
    "OpenAI Responses, custom and built-in tools": {
        "call": ({"type": "custom_tool_call", "call_id": "c1", "name": "weather", "input": WRITTEN}, CALLED),
        "search": (
            {
                "type": "web_search_call",
                "id": "w1",
                "status": "completed",
                "action": {"type": "search", "query": "Oban"},
            },
            ("call", "assistant", 'web_search(type="search", query="Oban")'),
        ),
        "reasoning": (
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
            ("turn", "assistant", "[reasoning]\nHm."),
        ),
    },
    "OpenAI Assistants": {
        "text": (
            {
                "object": "thread.message",
                **said_by_user({"type": "text", "text": {"value": TEXT, "annotations": []}}),
                "created_at": 1_790_000_000,
            },
            SAID,
        ),
        "media": (said_by_user({"type": "image_file", "image_file": {"file_id": "f1"}}), shown("image", None)),
    },
    "Anthropic": {
        "text": (said_by_user(text_part()), SAID),
        "call": (said_by_bot({"type": "tool_use", "id": "c1", "name": "weather", "input": ARGS}), CALLED),
        "media": (
            said_by_user(
                text_part(), {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}
            ),
            SAID,
        ),
    },
    "Anthropic, blocks as objects": {
        "text": ({"role": "assistant", "content": [TextBlock(type="text", text=REPLY)]}, ANSWERED),
        "call": (
            {"role": "assistant", "content": [ToolUseBlock(type="tool_use", id="c1", name="weather", input=ARGS)]},
            CALLED,
        ),
        "result": (
            said_by_user({"type": "tool_result", "tool_use_id": "c1", "content": [text_part(RESULT)]}),
            RETURNED,
        ),
    },
    "Anthropic, whole responses": {
        "text": (
            AnthropicMessage(
                id="msg_1",
                type="message",
                role="assistant",
                model="claude",
                content=[TextBlock(type="text", text=REPLY)],
                usage=Usage(input_tokens=1, output_tokens=1),
            ),
            ANSWERED,
        )
    },
    "Anthropic, documents": {
        "text": (
            said_by_user({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": TEXT}}),
            SAID,
        ),
        "blocks": (said_by_user({"type": "document", "source": {"type": "content", "content": [text_part()]}}), SAID),
        "media": (
            said_by_user(text_part(), {"type": "document", "title": "Lease", "source": {"type": "url", "url": URL}}),
            shown("document: Lease"),
        ),
    },
    "Anthropic, search results": {
        "text": (
            said_by_user({"type": "search_result", "source": URL, "title": "Towns", "content": [text_part()]}),
            ("turn", "user", f"[search_result: Towns]\n{TEXT}"),
        )
    },
    "Anthropic, tools of a server": {
        "call": (said_by_bot({"type": "server_tool_use", "id": "c1", "name": "weather", "input": ARGS}), CALLED),
        "code": (
            said_by_bot(
                {
                    "type": "code_execution_tool_result",
                    "tool_use_id": "c1",
                    "content": {"type": "code_execution_result", "stdout": RESULT, "stderr": ""},
                }
            ),
            RETURNED,
        ),
    },
    "Anthropic, thinking": {
        "text": (said_by_bot({"type": "thinking", "thinking": "Hm.", "signature": "x"}, text_part(REPLY)), ANSWERED)
    },
    "LangChain": _langchain(lambda one: one),
    "LangChain, model_dump": _langchain(lambda one: one.model_dump()),
    "LangChain, messages_to_dict": _langchain(message_to_dict),
    "LangChain, dumpd": _langchain(dumpd),
    "LangChain, chunks": {
        "text": (HumanMessageChunk(content=TEXT), SAID),
        "answer": (AIMessageChunk(content=REPLY), ANSWERED),
    },
    "LangChain, pairs": {"text": ([("human", TEXT)], SAID), "answer": (("ai", REPLY), ANSWERED)},
    "LangChain, standard blocks": {
        "text": (HumanMessage([{"type": "text-plain", "text": TEXT, "mime_type": "text/plain"}]), SAID),
        "call": (AIMessage([{"type": "tool_call", "id": "c1", "name": "weather", "args": ARGS}]), CALLED),
        "result": (
            AIMessage([{"type": "server_tool_result", "tool_call_id": "c1", "output": RESULT, "status": "success"}]),
            RETURNED,
        ),
        "media": (
            HumanMessage([text_part(), {"type": "file", "base64": "AAAA", "mime_type": "application/pdf"}]),
            SAID,
        ),
        "video": (HumanMessage([{"type": "video", "url": URL}]), shown("video", None)),
        "gemini": (HumanMessage([{"type": "media", "mime_type": "video/mp4", "data": "AAAA"}]), shown("video", None)),
    },
    "LangGraph, states": {
        "text": ({"messages": [HumanMessage(TEXT)], "step": 3}, SAID),
        "call": ({"messages": [_LC["call"]]}, CALLED),
        "result": (SimpleNamespace(type="state", messages=[_LC["result"]]), RETURNED),
    },
    "Bedrock Converse": {
        **_BEDROCK,
        "json": (
            said_by_user({"toolResult": {"toolUseId": "c1", "content": [{"json": {"degrees": 7}}]}}),
            ("turn", "tool", '{"degrees": 7}'),
        ),
        "guarded": (said_by_user({"guardContent": {"text": {"text": TEXT}}}), SAID),
        "image": (said_by_user({"image": {"format": "png", "source": {"bytes": b"AA"}}}), shown("image", None)),
    },
    "Strands": {
        **_BEDROCK,
        "text": (
            said_by_bot(
                {"reasoningContent": {"reasoningText": {"text": "Hm."}}},
                {"text": REPLY},
                {"cachePoint": {"type": "default"}},
            ),
            ANSWERED,
        ),
    },
    "Gemini": _gemini(lambda one: one, camel=True),
    "Gemini, snake case": _gemini(lambda one: one, camel=False),
    "Gemini, objects": _gemini(genai.Content.model_validate, camel=False),
    "Vercel UI": {
        "text": ({"id": "u1", **said_by_user(text_part(), key="parts")}, SAID),
        "call": (
            said_by_bot(
                {"type": "step-start"},
                {"type": "tool-weather", "toolCallId": "c1", "state": "input-available", "input": ARGS},
                key="parts",
            ),
            CALLED,
        ),
        "result": (
            said_by_bot(
                {
                    "type": "dynamic-tool",
                    "toolName": "weather",
                    "toolCallId": "c1",
                    "state": "output-available",
                    "output": RESULT,
                },
                key="parts",
            ),
            ("call", "assistant", "weather()"),
        ),
        "media": (
            said_by_user(
                text_part(), {"type": "file", "mediaType": "image/png", "filename": "boat.png", "url": URL}, key="parts"
            ),
            shown("image: boat.png"),
        ),
        "data": (
            said_by_bot(
                text_part(REPLY), {"type": "data-chart", "data": [1]}, {"type": "source-url", "url": URL}, key="parts"
            ),
            ANSWERED,
        ),
    },
    "Vercel UI 4": {
        "text": ({"role": "user", "content": TEXT, "parts": [text_part()]}, SAID),
        "call": (
            {
                "role": "assistant",
                "content": "",
                "toolInvocations": [{"state": "call", "toolCallId": "c1", "toolName": "weather", "args": ARGS}],
            },
            CALLED,
        ),
        "part": (
            said_by_bot(
                {
                    "type": "tool-invocation",
                    "toolInvocation": {"state": "call", "toolCallId": "c1", "toolName": "weather", "args": ARGS},
                },
                key="parts",
            ),
            CALLED,
        ),
    },
    "Vercel core": {
        "text": (said_by_user(text_part()), SAID),
        "call": (said_by_bot({"type": "tool-call", "toolCallId": "c1", "toolName": "weather", "args": ARGS}), CALLED),
        "media": (said_by_user(text_part(), {"type": "image", "image": URL, "mimeType": "image/png"}), SAID),
    },
    "Vercel model": {
        "call": (said_by_bot({"type": "tool-call", "toolCallId": "c1", "toolName": "weather", "input": ARGS}), CALLED),
        "json": (
            {
                "role": "tool",
                "content": [
                    {"type": "tool-result", "toolName": "weather", "output": {"type": "json", "value": {"degrees": 7}}}
                ],
            },
            ("turn", "tool", '{"degrees": 7}'),
        ),
        "media": (
            said_by_user(
                text_part(), {"type": "file", "data": "AA", "mediaType": "application/pdf", "filename": "log.pdf"}
            ),
            shown("file: log.pdf"),
        ),
    },
    "LlamaIndex": _llama(lambda one: one),
    "LlamaIndex, model_dump": _llama(lambda one: one.model_dump()),
    "ShareGPT": {
        "text": ({"from": "human", "value": TEXT}, SAID),
        "answer": ({"from": "gpt", "value": REPLY}, ANSWERED),
        "call": ({"from": "function_call", "value": '{"name": "weather", "arguments": {"city": "Oban"}}'}, CALLED),
    },
    "ShareGPT, records": {"text": ({"conversations": [{"from": "human", "value": TEXT}]}, SAID)},
    "Cohere": {
        "text": (said_by_user(text_part()), SAID),
        "call": (COHERE_CALL, PLANNED),
        "media": (said_by_user(text_part(), {"type": "image_url", "image_url": {"url": URL}}), SAID),
    },
    "Cohere 1": {
        "text": ({"role": "USER", "message": TEXT}, SAID),
        "answer": ({"role": "CHATBOT", "message": REPLY}, ANSWERED),
        "call": ({"role": "CHATBOT", "message": "", "tool_calls": [{"name": "weather", "parameters": ARGS}]}, CALLED),
    },
    "Mistral": {
        "text": (said_by_user(text_part(), {"type": "reference", "reference_ids": [1]}), SAID),
        "call": (
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c1", "function": {"name": "weather", "arguments": ARGS}}],
            },
            CALLED,
        ),
        "media": (
            said_by_user(text_part(), {"type": "document_url", "document_url": URL, "document_name": "log.pdf"}),
            shown("document: log.pdf"),
        ),
        "thinking": (said_by_bot({"type": "thinking", "thinking": [text_part("Hm.")]}, text_part(REPLY)), ANSWERED),
    },
    "Hugging Face": {
        "text": ({"messages": [{"role": "user", "content": TEXT}]}, SAID),
        "part": (said_by_user({"type": "text", "content": TEXT}), SAID),
        "call": (
            {
                "role": "assistant",
                "tool_calls": [{"type": "function", "function": {"name": "weather", "arguments": ARGS}}],
            },
            CALLED,
        ),
        "media": (said_by_user({"type": "image", "url": URL}, text_part()), SAID),
    },
    "Agent Framework": {
        "text": (AgentMessage("user", [TEXT]), SAID),
        "call": (
            AgentMessage("assistant", [AgentContent.from_function_call("c1", "weather", arguments=WRITTEN)]),
            CALLED,
        ),
        "result": (AgentMessage("tool", [AgentContent.from_function_result("c1", result=RESULT)]), RETURNED),
        "media": (AgentMessage("user", [TEXT, AgentContent.from_uri(URL, media_type="image/png")]), SAID),
    },
    "Mistral, conversations": {
        "text": ({"type": "message.output", "role": "assistant", "content": [text_part(REPLY)]}, ANSWERED),
        "call": ({"type": "function.call", "tool_call_id": "c1", "name": "weather", "arguments": WRITTEN}, CALLED),
        "built in": ({"type": "tool.execution", "name": "weather", "arguments": WRITTEN}, CALLED),
        "handoff": (
            {"type": "agent.handoff", "next_agent_name": "Bea"},
            ("placeholder", "assistant", "[agent_handoff]"),
        ),
    },
    "Ollama": {
        "text": ({"role": "assistant", "content": REPLY, "thinking": "Hm."}, [ANSWERED]),
        "call": (
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "weather", "arguments": ARGS}}]},
            [CALLED],
        ),
        "media": ({"role": "user", "content": TEXT, "images": ["AAAA"]}, [SAID]),
    },
    "OpenRouter": {
        "text": (
            {
                "role": "assistant",
                "content": REPLY,
                "reasoning": "Hm.",
                "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}],
                "images": [{"type": "image_url", "image_url": {"url": URL}}],
            },
            [ANSWERED],
        ),
    },
    "Haystack": {
        "reasoning": (said_by_bot({"reasoning": {"reasoning_text": "Hm.", "extra": {}}}, {"text": REPLY}), [ANSWERED]),
    },
    "plain objects": {
        "text": (SimpleNamespace(role="user", content=TEXT), SAID),
        "answer": (Spoken("assistant", [text_part(REPLY)]), ANSWERED),
    },
}
