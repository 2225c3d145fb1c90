"""Messages of several parts in their order, whole answers of models, requests, and the words of their parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from google.genai import types as genai
from langchain_core.messages import AIMessage
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.base.llms.types import TextBlock as LlamaText

from tests.ingestion.shapes import (
    ANSWERED,
    ARGS,
    BEDROCK_CALL,
    CALLED,
    COHERE_CALL,
    PLANNED,
    REPLY,
    RESULT,
    RETURNED,
    SAID,
    TEXT,
    URL,
    WRITTEN,
    Expected,
    Spoken,
    said_by_bot,
    said_by_user,
    text_part,
)

TERSE: Expected = ("turn", "system", "Be terse.")
_INVOCATION = {"state": "result", "toolCallId": "c1", "toolName": "weather", "args": ARGS, "result": RESULT}
_VERCEL_CALL = {
    "type": "tool-weather",
    "toolCallId": "c1",
    "state": "output-available",
    "input": ARGS,
    "output": RESULT,
}


@dataclass
class Answer:
    """What such a program gets from a model."""

    message: Spoken


COMPOUND: dict[str, Mapping[str, tuple[Any, Expected | list[Expected]]]] = {
    "whole answers": {
        "OpenAI": ({"choices": [{"message": {"role": "assistant", "content": REPLY}}], "usage": {}}, [ANSWERED]),
        "Mistral": (
            {"choices": [{"index": 0, "message": {"role": "assistant", "content": [text_part(REPLY)]}}]},
            [ANSWERED],
        ),
        "Mistral, conversations": (
            {"outputs": [{"type": "message.output", "role": "assistant", "content": REPLY}]},
            [ANSWERED],
        ),
        "Gemini": ({"candidates": [{"content": said_by_bot({"text": REPLY}, key="parts", role="model")}]}, [ANSWERED]),
        "Gemini, object": (
            genai.GenerateContentResponse.model_validate(
                {"candidates": [{"content": said_by_bot({"text": REPLY}, key="parts", role="model")}]}
            ),
            [ANSWERED],
        ),
        "Bedrock": (
            {"output": {"message": said_by_bot({"text": REPLY}, {"toolUse": BEDROCK_CALL})}, "stopReason": "tool_use"},
            [ANSWERED, CALLED],
        ),
        "Ollama": ({"model": "m", "message": {"role": "assistant", "content": REPLY}, "done": True}, [ANSWERED]),
        "an object": (Answer(Spoken("assistant", REPLY)), [ANSWERED]),
        "Cohere": ({"id": "a1", "finish_reason": "TOOL_CALL", "message": COHERE_CALL}, PLANNED),
        "Responses": (
            {
                "object": "response",
                "output": [
                    {"type": "reasoning", "summary": []},
                    {"type": "message", **said_by_bot({"type": "output_text", "text": REPLY})},
                ],
            },
            [("placeholder", "assistant", "[reasoning]"), ANSWERED],
        ),
    },
    "orders": {
        "Vercel UI": (
            said_by_bot(
                {"type": "step-start"},
                {"type": "reasoning", "text": "Hm.", "state": "done"},
                _VERCEL_CALL,
                text_part(REPLY),
                {"type": "source-document", "sourceId": "s", "title": "Oban"},
                {
                    "type": "dynamic-tool",
                    "toolName": "look",
                    "toolCallId": "c2",
                    "state": "output-error",
                    "errorText": "No.",
                },
                {"type": "file", "url": URL, "mediaType": "image/png", "filename": "boat.png"},
                key="parts",
            ),
            [
                CALLED,
                RETURNED,
                ANSWERED,
                ("call", "assistant", "look()"),
                ("turn", "tool", "No."),
                ("turn", "assistant", "[image: boat.png]"),
            ],
        ),
        "Vercel UI 4": (
            {
                "role": "assistant",
                "content": REPLY,
                "toolInvocations": [_INVOCATION],
                "parts": [{"type": "tool-invocation", "toolInvocation": _INVOCATION}, text_part(REPLY)],
            },
            [CALLED, RETURNED, ANSWERED],
        ),
        "Gemini": (
            said_by_bot(
                {"executableCode": {"language": "PYTHON", "code": "7"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": RESULT}},
                {"text": REPLY},
                key="parts",
                role="model",
            ),
            [("call", "assistant", "executable_code(7)"), RETURNED, ANSWERED],
        ),
        "Anthropic": (
            said_by_user(
                {"type": "tool_result", "tool_use_id": "c1", "is_error": True, "content": RESULT}, text_part()
            ),
            [RETURNED, SAID],
        ),
        "Anthropic, a server's tools": (
            said_by_bot(
                text_part("I look."),
                {"type": "server_tool_use", "id": "c1", "name": "weather", "input": ARGS},
                {"type": "mcp_tool_result", "tool_use_id": "c1", "content": [text_part(RESULT)]},
                text_part(REPLY),
            ),
            [*PLANNED, RETURNED, ANSWERED],
        ),
        "LangChain": (
            AIMessage(
                [text_part("I look."), {"type": "tool_use", "id": "c1", "name": "weather", "input": ARGS}],
                tool_calls=[{"name": "weather", "args": ARGS, "id": "c1"}],
            ),
            PLANNED,
        ),
        "Haystack": (
            said_by_bot({"text": "I look."}, {"tool_call": {"tool_name": "weather", "arguments": ARGS, "id": "c1"}}),
            PLANNED,
        ),
        "LlamaIndex": (
            ChatMessage(
                role="assistant",
                blocks=[
                    ToolCallBlock(tool_call_id="c1", tool_name="weather", tool_kwargs=ARGS),
                    LlamaText(text=REPLY),
                ],
            ),
            [CALLED, ANSWERED],
        ),
    },
    "requests and runs": {
        "OpenAI": (
            {
                "model": "m",
                "messages": [{"role": "developer", "content": "Be terse."}, {"role": "user", "content": TEXT}],
            },
            [TERSE, SAID],
        ),
        "Anthropic": (
            {"system": [text_part("Be terse.")], "messages": [said_by_user(text_part())], "max_tokens": 9},
            [TERSE, SAID],
        ),
        "Bedrock": ({"system": [{"text": "Be terse."}], "messages": [said_by_user({"text": TEXT})]}, [TERSE, SAID]),
        "Gemini": (
            {
                "systemInstruction": {"parts": [{"text": "Be terse."}]},
                "contents": [said_by_user({"text": TEXT}, key="parts")],
            },
            [TERSE, SAID],
        ),
        "OpenAI Agents": (
            [
                {"role": "user", "content": TEXT},
                {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": WRITTEN},
                {"type": "function_call_output", "call_id": "c1", "output": RESULT},
                {"type": "message", **said_by_bot({"type": "output_text", "text": REPLY, "annotations": []})},
            ],
            [SAID, CALLED, RETURNED, ANSWERED],
        ),
    },
    "results of many parts": {
        "Anthropic": (
            said_by_user(
                {
                    "type": "tool_result",
                    "content": [
                        text_part(RESULT),
                        {"type": "image", "source": {"type": "url", "url": URL}},
                        {"type": "search_result", "source": URL, "title": "Oban", "content": [text_part(TEXT)]},
                    ],
                }
            ),
            [("turn", "tool", f"{RESULT}\n[search_result: Oban]\n{TEXT}")],
        ),
        "Bedrock": (
            said_by_user({"toolResult": {"content": [{"text": RESULT}, {"json": {"degrees": 7}}], "status": "error"}}),
            [("turn", "tool", f'{RESULT}\n{{"degrees": 7}}')],
        ),
        "a part that is not known": (
            said_by_user({"type": "tool_result", "content": [{"type": "hologram", "x": 1}, text_part(RESULT)]}),
            [("turn", "tool", f'{{"type": "hologram", "x": 1}}\n{RESULT}')],
        ),
        "Vercel": (
            said_by_bot(
                {
                    "type": "tool-result",
                    "toolName": "weather",
                    "output": {"type": "content", "value": [text_part(RESULT), {"type": "media", "data": "AA"}]},
                },
                {"type": "tool-result", "toolName": "look", "output": {"type": "error-text", "value": "No."}},
                role="tool",
            ),
            [("turn", "tool", f"{RESULT}\nNo.")],
        ),
        "a search of files": (
            {
                "type": "file_search_call",
                "queries": ["Oban"],
                "results": [{"file_id": "f1", "filename": "log.pdf", "text": RESULT}],
            },
            [("call", "assistant", 'file_search(["Oban"])'), ("turn", "tool", f"[file: log.pdf]\n{RESULT}")],
        ),
    },
    "words of parts": {
        "found pages": (
            said_by_bot(
                {
                    "type": "web_search_tool_result",
                    "content": [{"type": "web_search_result", "title": "Oban", "url": URL, "encrypted_content": "x"}],
                }
            ),
            [("turn", "tool", f"[search_result: Oban ({URL})]")],
        ),
        "a page": (
            said_by_bot(
                {
                    "type": "web_fetch_tool_result",
                    "content": {
                        "type": "web_fetch_result",
                        "url": URL,
                        "content": {"type": "document", "title": "Oban", "source": {"type": "text", "data": RESULT}},
                    },
                }
            ),
            [("turn", "tool", f"[document: Oban]\n{RESULT}")],
        ),
        "context of a document": (
            said_by_user(
                {"type": "document", "title": "Lease", "context": "Signed.", "source": {"type": "text", "data": TEXT}}
            ),
            [("turn", "user", f"[document: Lease]\nSigned.\n{TEXT}")],
        ),
        "a thought alone": (
            said_by_bot({"type": "thinking", "thinking": "Hm.", "signature": "x"}),
            [("turn", "assistant", "[thinking]\nHm.")],
        ),
        "a thought beside words": (said_by_bot({"type": "thinking", "thinking": "Hm."}, text_part(REPLY)), [ANSWERED]),
        "raw reasoning": (
            {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
            [("turn", "assistant", "[reasoning]\nHm.")],
        ),
        "a reason": (
            {"type": "mcp_approval_response", "approve": False, "reason": "It costs."},
            [("turn", "assistant", "[mcp_approval_response]\nIt costs.")],
        ),
        "a summary": (
            said_by_bot({"type": "compaction", "content": "She lives in Oban."}),
            [("turn", "assistant", "[compaction]\nShe lives in Oban.")],
        ),
        "several actions": (
            {"type": "computer_call", "actions": [{"type": "type", "text": TEXT}]},
            [("call", "assistant", f'computer([{{"type": "type", "text": "{TEXT}"}}])')],
        ),
    },
}
