"""What a tool returned is stored as it is, and what is wrong in a message costs this message only."""

# ruff: noqa: ANN401 - values of any kind

from __future__ import annotations

import enum
import json
import re
from collections import UserDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # pandas has no types
import pytest
from agent_framework import Content as AgentContent
from agent_framework import Message as AgentMessage
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langgraph.types import StateSnapshot

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import InputError
from neurogated.ingestion import formats
from neurogated.ingestion.contents import read_contents
from neurogated.ingestion.messages import read_message

_Role = enum.Enum("_Role", {"USER": "user"})
URL = "https://example.org/boat.png"
SCREEN = "[computer_call_output]"
OWN: tuple[Any, ...] = (
    {"error": "No such city", "code": 404},
    {"text": "Rain", "lang": "en"},
    {"type": "text", "text": "A", "value": "B"},
    {"type": "text", "text": " ", "index": "B"},
    {"image": {"url": URL, "caption": "B"}},
    {"messages": [{"role": "user", "content": "Hi."}], "id": 7},
    "Rain",
    7,
    False,
)
"""Values of tools, whose keys and types are those of parts of messages."""


def part(key: str = "content", role: str = "user", **about: Any) -> dict[str, Any]:
    return {"role": role, key: [about]}


Form = Callable[[Any], Any]
FORMS: dict[str, Form] = {
    "OpenAI": lambda own: {"role": "tool", "tool_call_id": "c", "content": own},
    "OpenAI, a list": lambda own: {"role": "tool", "tool_call_id": "c", "content": [own]},
    "OpenAI, a function": lambda own: {"role": "function", "name": "f", "content": own},
    "Ollama": lambda own: {"role": "tool", "tool_name": "f", "content": own},
    "Hugging Face": lambda own: {"role": "ipython", "content": own},
    "Responses, custom": lambda own: {"type": "custom_tool_call_output", "call_id": "c", "output": [own]},
    "Responses": lambda own: {"type": "function_call_output", "call_id": "c", "output": own},
    "Responses, MCP": lambda own: {"type": "mcp_call", "name": "f", "arguments": "{}", "output": own},
    "Responses, code": lambda own: {"type": "code_interpreter_call", "code": "1", "outputs": [own]},
    "Anthropic": lambda own: part(type="tool_result", tool_use_id="c", content=own),
    "Anthropic, an error": lambda own: part(type="tool_result", tool_use_id="c", content=own, is_error=True),
    "Anthropic, a server": lambda own: part(role="assistant", type="mcp_tool_result", tool_use_id="c", content=own),
    "MCP": lambda own: part(type="tool_result", tool_use_id="c", content=[], structuredContent=own),
    "LangChain": lambda own: {"type": "tool", "content": own, "tool_call_id": "c"},
    "LangChain, dumpd": lambda own: {"lc": 1, "id": ["ToolMessage"], "kwargs": {"type": "tool", "content": own}},
    "LangChain, blocks": lambda own: part(role="ai", type="server_tool_result", tool_call_id="c", output=own),
    "Bedrock": lambda own: part(toolResult={"toolUseId": "c", "content": [{"json": own}]}),
    "Bedrock, bare": lambda own: part(toolResult={"toolUseId": "c", "content": own, "status": "error"}),
    "Gemini": lambda own: part("parts", functionResponse={"name": "f", "response": own}),
    "Gemini, wrapped": lambda own: part("parts", function_response={"name": "f", "response": {"result": own}}),
    "Gemini, as a tool": lambda own: part("parts", "function", functionResponse={"name": "f", "response": own}),
    "Vercel UI": lambda own: part("parts", "assistant", type="tool-f", state="output-available", input={}, output=own),
    "Vercel UI, dynamic": lambda own: part("parts", "assistant", type="dynamic-tool", toolName="f", output=own),
    "Vercel UI 4": lambda own: {"role": "assistant", "toolInvocations": [{"toolName": "f", "args": {}, "result": own}]},
    "Vercel 4": lambda own: part(role="tool", type="tool-result", toolName="f", result=own),
    "Vercel": lambda own: part(role="tool", type="tool-result", toolName="f", output={"type": "json", "value": own}),
    "Cohere 1": lambda own: {"role": "TOOL", "tool_results": [{"call": {"name": "f"}, "outputs": [own]}]},
    "Cohere 2": lambda own: part(role="tool", type="document", document={"data": own}),
    "Mistral": lambda own: {"type": "function.result", "tool_call_id": "c", "result": own},
    "Haystack": lambda own: part(role="tool", tool_call_result={"result": own, "error": False, "origin": {}}),
    "Pydantic AI": lambda own: part("parts", part_kind="tool-return", tool_name="f", content=own),
    "LlamaIndex": lambda own: part("blocks", "tool", block_type="tool_result", content=own),
    "ShareGPT": lambda own: {"from": "observation", "value": own},
    "an object": lambda own: SimpleNamespace(role="tool", content=own),
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NeuroGraphMemory]:
    folder = str(tmp_path_factory.mktemp("results"))
    with NeuroGraphMemory(MemoryConfig(save_dir=folder, embedding_name="hash")) as memory:
        yield memory


def said(message: Any) -> list[tuple[str | None, str | None, str]]:
    """Return the role, the kind and the text of each passage."""
    return [(one.role, one.kind, one.text) for document in read_contents([message], {}) for one in document.passages]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("own", OWN, ids=str)
def test_what_a_tool_returned_is_stored_as_it_is(form: str, own: Any) -> None:
    (role, kind, text) = said(FORMS[form](own))[-1]
    assert (role, kind) == ("tool", None)
    if isinstance(own, str):
        assert text == own
    else:
        assert json.loads(text) in (own, [own])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("own", [None, "", [], {}], ids=str)
def test_a_tool_that_returned_nothing_says_nothing_of_its_envelope(form: str, own: Any) -> None:
    try:
        found = [one for one in said(FORMS[form](own)) if one[0] == "tool" and one[1] is None]
    except InputError:
        return
    assert set(re.findall(r"\w+", "".join(text for *_, text in found))) <= {"null", "type", "json", "value"}


_VALUES = st.recursive(
    st.booleans() | st.integers() | st.text("abc", min_size=1, max_size=3),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=2)
        | st.dictionaries(
            st.sampled_from([*formats.KIND_OF, *formats.RESULT_KEYS, "name"]), inner, min_size=2, max_size=4
        )
    ),
    max_leaves=6,
)


_NAMES = st.sampled_from([*formats.KIND_OF, *formats.TEXT_KEYS, *formats.RESULT_KEYS, *formats.SOURCES])


@given(st.sampled_from([*FORMS]), st.dictionaries(_NAMES, _VALUES, min_size=2, max_size=4))
def test_no_key_of_a_value_makes_it_a_part(form: str, own: dict[str, Any]) -> None:
    text = said(FORMS[form](own))[-1][-1]
    assert json.loads(text) in (own, [own])


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (part(type="tool_result", content=[], structured_content={"degrees": 7}), '{"degrees": 7}'),
        (part(type="tool_result", content="7", structured_content={"degrees": 7}), "7"),
        (part(type="bash_code_execution_result", stdout="1", stderr="2", return_code=1, content=[]), "1\n2"),
        (part(role="tool", tool_call_result={"result": "", "error": False}), "[tool_call_result]"),
        (part(role="tool", tool_call_result={"result": [{"text": "7"}, {"json": [8]}], "error": True}), "7\n[8]"),
        (part(role="assistant", type="tool_result", output="7", error="late"), "7\nlate"),
        (AgentMessage("tool", [AgentContent.from_function_result("c", exception="Boom")]), "FunctionInvocationError"),
        (part(toolResult={"content": [{"text": "7"}, {"image": {"format": "png", "source": {"bytes": b"A"}}}]}), "7"),
        ({"role": "tool", "content": ["7", {"type": "image_url", "image_url": {"url": URL}}]}, "7"),
        (part("items", "tool", content_type="function_result", result={"error": "E"}), '{"error": "E"}'),
        ({"type": "ai", "content": "", "invalid_tool_calls": [{"name": "f", "args": "{a", "error": "bad"}]}, "bad"),
        (part("tool_calls", "ai", type="code_interpreter", code_interpreter={"input": "1", "outputs": ["7"]}), "7"),
        ({"type": "computer_call_output", "output": {"type": "computer_screenshot", "image_url": URL}}, SCREEN),
        ({"role": "tool", "content": ["7", {"degrees": 8}]}, '7\n{"degrees": 8}'),
        ({"role": "tool", "content": None, "error": "A", "status": "error"}, "A"),
        ({"role": "tool", "content": [], "result": {"degrees": 8}}, '{"degrees": 8}'),
        (part(type="tool_result", tool_use_id="c", payload="A"), '{"payload": "A"}'),
        ({"role": "tool", "content": b"caf\xc3\xa9"}, "caf\xe9"),
        ({"role": "tool", "content": {"drink": b"caf\xc3\xa9"}}, '{"drink": "caf\xe9"}'),
        (part(document={"format": "txt", "source": {"bytes": b"Rain"}}), "Rain"),
        (part(toolResult={"content": [{"document": {"format": "md", "source": {"bytes": b"Rain"}}}]}), "Rain"),
        ({"role": "tool", "content": [{"type": "text", "text": "7", "id": "lc_1f"}]}, "7"),
        ({"role": "tool-response", "content": "7"}, "7"),
        ({"role": "tool-call", "content": "f()"}, "f()"),
        ({"type": "tool-call", "toolName": "f", "args": {}}, "f()"),
        ({"role": "agent", "toolCalls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}, "f()"),
        ({"role": "tool", "toolResults": [{"call": {}, "outputs": [{"degrees": 8}]}]}, '{"degrees": 8}'),
    ],
)  # fmt: skip
def test_all_that_a_result_says_is_stored(message: Any, text: str) -> None:
    assert said(message)[-1][-1] == text


@pytest.mark.parametrize(
    ("content", "text", "beside"),
    [
        ([{"type": "text", "text": "A", "title": "B", "note": "C"}], "A", {"title": "B", "note": "C"}),
        ([{"type": "text", "text": "A", "content": "B", "value": "C"}], "A", {"content": "B", "value": "C"}),
        ({"text": "A", "extra": "B"}, "A", {"extra": "B"}),
        ({"text": {"value": "A", "note": "B"}, "lang": "en"}, "A", {"lang": "en", "note": "B"}),
        ({"json": {"degrees": 7}, "value": "B"}, '{"degrees": 7}', {"value": "B"}),
        ([{"type": "text", "text": "", "note": "B"}], "[text]", {"note": "B"}),
        ([{"type": "text", "text": "A", "id": "1", "cache_control": {"type": "ephemeral"}}], "A", None),
    ],
)
def test_what_a_text_does_not_say_is_kept_beside_it(content: Any, text: str, beside: dict[str, Any] | None) -> None:
    (document,) = read_contents([{"role": "user", "content": content}], {})
    assert document.main.text == text
    assert document.main.aside == ({"message": {"parts": [beside]}} if beside else {})


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "content": b"\xff\xfe"},
        {"role": "tool", "content": {"a": b"\xff\xfe"}},
        part(document={"format": "pdf", "name": "Lease", "source": {"bytes": b"\xff\xfe"}}),
    ],
)
def test_of_bytes_that_are_no_text_the_length_is_kept_and_told(message: dict[str, Any]) -> None:
    contents = read_contents([message, "Rain."], {})
    (note,) = contents.notes
    assert note.endswith("1, content 1")
    assert "2 bytes" in str(contents[0].main)


class _Angry:
    role = "user"

    def __init__(self, method: str) -> None:
        self._method = method

    def model_dump(self) -> object:
        return self._raised("model_dump", None)

    def to_dict(self) -> object:
        return self._raised("to_dict", [1, 2])

    def __repr__(self) -> str:
        return str(self._raised("repr", "it"))

    def _raised(self, method: str, other: object) -> object:
        if method == self._method:
            raise RuntimeError(method)
        return other


def nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


KEYS = ["", "role", "name", "metadata", "content", "parts", "tool_calls", "tool_results", "additional_kwargs"]


class _Raising(UserDict[str, Any]):
    """A mapping that raises when it is read."""

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)


class _Unnameable:
    def __str__(self) -> str:
        raise OSError


ODD = [_Angry("model_dump"), _Angry("to_dict"), _Angry("repr"), _Angry(""), nested(20_000), {("a", "b"): {1: object()}},
    pd.NA, np.zeros(3), 10**5000, _Raising(a=1), {"type": {}, "function": {"name": "f"}}, {_Unnameable(): 1},
    [{"type": [], "name": "f"}], {"functionCall": {"name": "f", "type": {"a": 1}}}]  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_whatever_a_value_of_others_raises_costs_its_message_only(kept: NeuroGraphMemory, odd: Any, key: str) -> None:
    for role in ("user", "tool"):
        message = {"role": role, "content": "Two herons.", key: odd} if key else odd
        added = kept.add(["One heron.", message, "Three herons."])
        texts = [kept.get(one).content for one in added]
        assert (texts[0], texts[-1]) == ("One heron.", "Three herons.")
        try:
            assert kept.add(message) or added.skipped
        except InputError:
            assert added.refused == 1


def test_what_the_generator_of_a_caller_raises_is_raised(kept: NeuroGraphMemory) -> None:
    def herons() -> Iterator[str]:
        yield "One heron."
        raise TimeoutError

    with pytest.raises(TimeoutError):
        kept.add(herons())  # type: ignore[arg-type]  # any iterator


@pytest.mark.parametrize("odd", [{"is_error": True}, {"content": []}, {"content": [{"type": "image", "data": "A"}]}])
def test_a_result_without_words_is_nobodys(odd: dict[str, Any]) -> None:
    assert said(part(type="tool_result", **odd)) == [("tool", "placeholder", "[tool_result]")]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_a_reader_of_messages_elsewhere_gets_an_input_error_too(odd: Any) -> None:
    for key in ("name", "content", "tool_calls", "original"):
        with suppress(InputError):
            read_message({"role": "user", "content": "Hi.", key: odd})


@pytest.mark.parametrize(
    "odd", [{"at": datetime(2026, 1, 1, tzinfo=UTC)}, [object()], _Role.USER, MappingProxyType({"a": 1})], ids=range(4)
)
def test_an_original_that_is_no_json_costs_its_message_only(kept: NeuroGraphMemory, odd: Any) -> None:
    bad = {"role": "user", "content": "Hi.", "original": odd}
    added = kept.add(["One heron.", bad])
    assert (len(added), added.refused) == (1, 1)
    with pytest.raises(InputError, match="not JSON"):
        kept.add(bad)


_LISTS = st.sampled_from([[], {}, [1], ["a"], {"id": ["a"]}, [{}], [[]], {"a": 1}])
_JSON = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "x"]) | _LISTS
_KNOWN = re.findall(
    r"\w+",
    "role type lc kwargs data from value message id name metadata ttl refusal original valid_from expiration_date "
    "timestamp additional_kwargs tool_results toolInvocations messages choices values next tasks",
)
_KNOWN += [*formats.SYSTEM, *formats.BODIES, *formats.BESIDE, *formats.CALL_LISTS]
_IN_PARTS = ["type", "function", "custom", "id", "call_id", "citations", *formats.NAME_KEYS, *formats.ARGUMENTS]
_IN_PARTS += [*formats.RESULT_KEYS, *formats.PRINTED, *formats.SOURCES, *formats.THOUGHT_KEYS, *formats.ALT_TEXTS]
_KINDS = st.sampled_from(sorted(formats.KIND_OF))


@given(st.dictionaries(st.sampled_from(_KNOWN), _JSON, max_size=4), st.sampled_from(["", "Hi."]))
def test_a_wrong_type_of_a_known_key_is_stored_or_refused(fields: dict[str, Any], words: str) -> None:
    _read_or_refused({"role": "user", "content": words, **fields} if words else fields)


@given(_KINDS, st.dictionaries(st.sampled_from(_IN_PARTS), _JSON, max_size=4), st.sampled_from(["user", "tool"]))
def test_a_wrong_type_in_a_part_is_stored_or_refused(kind: str, fields: dict[str, Any], role: str) -> None:
    for one in ({"type": kind, **fields}, {kind: fields, "id": ["a"]}):
        for key in ("content", "parts", "tool_calls", "tool_results"):
            _read_or_refused({"role": role, key: [one]})


def _read_or_refused(message: dict[str, Any]) -> None:
    for content in (message, [message, "One heron."]):
        try:
            documents = read_contents(content, {})  # type: ignore[arg-type]  # any message
        except InputError:
            assert isinstance(content, dict)
            continue
        json.dumps([one.aside for document in documents for one in document.passages])
        assert documents or documents.skipped or [] in message.values(), "an empty list holds no message"
        assert isinstance(content, dict) or "One heron." in [document.main.text for document in documents]


class _Said(NamedTuple):
    role: str
    content: str


class _Point(NamedTuple):
    x: str
    y: str


@pytest.mark.parametrize(
    "message",
    [
        _Said("user", "I keep bees."),
        {"role": _Role.USER, "content": "I keep bees."},
        (_Role.USER, "I keep bees."),
        StateSnapshot({"messages": [HumanMessage("I keep bees.")]}, (), {}, None, None, None, (), ()),
    ],
)
def test_a_named_tuple_is_opened_by_its_names_and_an_enum_by_its_value(kept: NeuroGraphMemory, message: Any) -> None:
    for content in (message, [message]):
        added = kept.add(content, session_id="s")
        assert [(kept.get(one).role, kept.get(one).content) for one in added] == [("user", "I keep bees.")]
    with pytest.raises(InputError, match="keys are 'x', 'y'"):
        kept.add(_Point("user", "Hi."))


def test_a_call_that_is_streamed_and_listed_is_told_once() -> None:
    block = {"type": "tool_use", "id": "c", "name": "weather", "input": {}, "partial_json": '{"city": "Ob'}
    listed = {"name": "weather", "args": {"city": "Ob"}, "id": "c"}
    assert (
        len(said({"type": "ai", "content": [{"type": "text", "text": "I look."}, block], "tool_calls": [listed]})) == 2
    )
    whole = {**block, "partial_json": '{"city": "Oban"}'}
    assert said({"type": "ai", "content": [whole]}) == [("assistant", "call", 'weather(city="Oban")')]


def test_words_keep_their_indentation(tmp_path: Path) -> None:
    code = "    if x:\n        return 1"
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")) as memory:
        for content in (code, {"role": "user", "content": f"\n \n{code}\n"}, part(type="text", text=code)):
            (name,) = memory.add(content)
            assert memory.get(name).content == code
