"""Models behind OpenAI's protocol and behind Anthropic's."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

import pytest

from neurogated.errors import LLMError, MissingExtraError, UnusableAnswerError
from neurogated.llm.base import LENGTH
from tests.llm.conftest import form_of

if TYPE_CHECKING:
    from tests.llm.conftest import Server

ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "你好 {world} \"'\n"}]
SERVICES = ["llm", "claude"]
"""The calls of a server that give a model with OpenAI's protocol, and one with Anthropic's."""
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


@pytest.mark.parametrize("service", SERVICES)
def test_the_answer_comes_without_the_thinking_and_with_its_tokens(server: Server, service: str) -> None:
    server.says("Hello.", usage=(21, 4))
    llm = getattr(server, service)()

    text, meta = llm.infer(ASKED)

    assert text == "Hello."
    assert meta == {
        "model": llm.name, "prompt_tokens": 21, "completion_tokens": 4, "finish_reason": "stop", "cached": False,
    }  # fmt: skip


def test_the_request_has_the_settings(server: Server) -> None:
    server.says("Hello.")

    server.llm(api_key="secret-key", temperature=0.5, max_new_tokens=11).infer(ASKED)

    assert server.requests == [{"model": "test-model", "messages": ASKED, "temperature": 0.5, "max_tokens": 11}]
    assert server.paths == ["/v1/chat/completions"]
    assert server.headers[0]["authorization"] == "Bearer secret-key"


def test_a_request_to_anthropic_has_a_separate_system_text(server: Server) -> None:
    server.says("Hello.")
    turns = [*ASKED[1:], {"role": "assistant", "content": "Hi."}, {"role": "user", "content": "How are you?"}]

    server.claude(temperature=0.5, max_new_tokens=11).infer([ASKED[0], *turns])

    assert server.requests == [
        {"model": "claude-test", "max_tokens": 11, "messages": turns, "system": "Be brief.", "temperature": 0.5}
    ]
    assert server.paths == ["/v1/messages"]
    # Versions of the package use different headers.
    assert any("secret-key" in value for value in server.headers[0].values())


def test_a_cut_off_answer_says_so(server: Server) -> None:
    server.says("Hel", finish="length")

    assert server.llm().infer(ASKED)[1]["finish_reason"] == LENGTH


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_a_passing_failure_is_tried_again(server: Server, status: int) -> None:
    server.refuses(status)
    server.refuses(status)
    server.says("Hello.")

    assert server.llm(retries=2).infer(ASKED)[0] == "Hello."
    assert len(server.requests) == 3


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("failure", ["hangs_up", "sends_half"])
@pytest.mark.parametrize("service", SERVICES)
def test_half_a_response_or_none_is_tried_again_and_for_ever_fails_after_the_retries(
    server: Server, service: str, failure: str
) -> None:
    getattr(server, failure)()
    llm = getattr(server, service)(retries=2)

    with pytest.raises(LLMError, match=re.escape(server.url.removesuffix("/v1"))):
        llm.infer(ASKED)
    assert len(server.requests) == 3
    server.says("Hello.")
    assert llm.infer(ASKED)[0] == "Hello."


@pytest.mark.parametrize(
    ("status", "tries", "remedy"),
    [
        (500, 3, "check the server"),
        (429, 3, "lower llm.concurrency, or check the quota"),
        (401, 1, "check the key"),
        (403, 1, "check the permissions of the key"),
        (404, 1, "check llm_name and llm_base_url"),
        (400, 1, "check the server"),
        (422, 1, "check the server"),
    ],
)
@pytest.mark.parametrize("service", SERVICES)
def test_a_lasting_refusal_quotes_the_server_and_names_the_remedy(
    server: Server, service: str, status: int, tries: int, remedy: str
) -> None:
    server.refuses(status)
    llm = getattr(server, service)(retries=2)

    with pytest.raises(LLMError) as caught:
        llm.infer(ASKED)

    assert all(part in str(caught.value) for part in (repr(llm.name), remedy))
    assert len(server.requests) == tries


@pytest.mark.parametrize(
    ("status", "complaint"),
    [
        (400, "This model's maximum context length is 4096 tokens, but the messages have 9000."),
        (400, "the request exceeds the available context size, try increasing it"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
        (413, "request_too_large"),
    ],
)
def test_a_prompt_that_is_too_long_is_told_from_a_server_that_fails(
    server: Server, status: int, complaint: str
) -> None:
    server.refuses(status, complaint)

    with pytest.raises(UnusableAnswerError, match="too long for language model 'test-model'"):
        server.llm(retries=2).infer(ASKED, schema={"type": "object"})

    assert len(server.requests) == 1


@pytest.mark.parametrize(("slowness", "seconds", "told"), [("stalls", 0.05, None), ("drips", 0.25, r"llm\.timeout")])
def test_a_server_that_does_not_answer_in_time_or_byte_by_byte_is_given_up(
    server: Server, slowness: str, seconds: float, told: str | None
) -> None:
    getattr(server, slowness)()

    with pytest.raises(LLMError, match=told):
        server.llm(timeout=seconds).infer(ASKED)


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(b"{not json", id="no JSON"),
        pytest.param(b"\xff\xfe\x00", id="bytes"),
        pytest.param(b"null", id="null"),
        pytest.param(b"", id="nothing"),
        pytest.param(b'{"content": null}', id="content null"),
        pytest.param(b'{"content": ["x"]}', id="content of words"),
        pytest.param(json.dumps({"choices": []}).encode(), id="choices empty"),
        pytest.param(json.dumps({"choices": {}}).encode(), id="choices are an object"),
        pytest.param(json.dumps({"choices": [{"message": None}]}).encode(), id="message null"),
        pytest.param(
            json.dumps({"choices": [{"message": {"content": [1]}, "finish_reason": "stop"}]}).encode(),
            id="content is a list",
        ),
    ],
)
@pytest.mark.parametrize("content_type", ["application/json", "text/html"])
@pytest.mark.parametrize("service", SERVICES)
def test_garbage_is_an_error_that_names_model_and_address(
    server: Server, service: str, payload: bytes, content_type: str
) -> None:
    server.sends(payload, content_type)
    llm = getattr(server, service)()

    with pytest.raises(LLMError) as caught:
        llm.infer(ASKED)

    assert repr(llm.name) in str(caught.value)
    assert server.url.removesuffix("/v1") in str(caught.value)


FORMS = ["json_schema", "tools", "json_object", "nothing"]
FORMS_OF = {"llm": FORMS, "claude": ["output_config", "tools", "nothing"]}
"""The ways to tell the form of an answer, in the order in which they are tried."""


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize(("service", "form"), [(service, form) for service in SERVICES for form in FORMS_OF[service]])
def test_the_form_that_a_server_takes_is_found_once(
    server: Server, service: str, form: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    server.takes(form, {"a": "bä"}, status)
    llm, forms = getattr(server, service)(), FORMS_OF[service]

    for _ in range(2):
        assert json.loads(llm.infer(ASKED, schema=SCHEMA)[0]) == {"a": "bä"}

    tried = forms[: forms.index(form) + 1]
    assert list(map(form_of, server.requests)) == [*tried, form]
    assert all(request["temperature"] == 0.0 for request in server.requests)
    assert (forms[0] in caplog.text) == (form != forms[0])


def test_the_tool_has_the_schema(server: Server) -> None:
    server.takes("tools", {"a": "b"})

    server.llm().infer(ASKED, schema=SCHEMA)

    (tool,) = server.requests[-1]["tools"]
    assert tool["function"]["parameters"] == SCHEMA
    assert server.requests[-1]["tool_choice"] == {"type": "function", "function": {"name": "answer"}}


def test_a_server_that_fails_at_a_form_it_was_started_without_is_asked_without_it(server: Server) -> None:
    server.refuses(400)
    server.refuses(500, "tools param requires --jinja flag")
    server.says('{"a": "b"}')

    assert server.llm().infer(ASKED, schema=SCHEMA)[0] == '{"a": "b"}'
    assert list(map(form_of, server.requests)) == FORMS[:3]


def test_a_schema_that_is_refused_leaves_the_form_of_another_as_it_was(server: Server) -> None:
    server.refuses(400)
    server.says('{"a": "b"}')
    server.says('{"a": "b"}')
    llm = server.llm()
    for schema in (SCHEMA, {**SCHEMA, "description": "another"}):
        llm.infer(ASKED, schema=schema)
    assert list(map(form_of, server.requests)) == [*FORMS[:2], FORMS[0]]


def test_a_server_that_takes_no_temperature_is_asked_without_it_from_then_on(server: Server) -> None:
    server.refuses(400, "'temperature' does not support 0 with this model")
    server.says("Hello.")
    llm = server.llm()

    for _ in range(2):
        assert llm.infer(ASKED)[0] == "Hello."

    assert ["temperature" in request for request in server.requests] == [True, False, False]


def test_a_missing_package_says_how_to_install_it(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.setitem(sys.modules, "anthropic", None)

    with pytest.raises(MissingExtraError):
        server.llm()
    with pytest.raises(MissingExtraError):
        server.claude()
