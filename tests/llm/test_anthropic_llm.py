from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.llm.conftest import form_of

if TYPE_CHECKING:
    from tests.llm.conftest import Server

ASKED = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hi."},
    {"role": "user", "content": "How are you?"},
]


def test_the_answer_comes_without_the_thinking_and_with_its_tokens(server: Server) -> None:
    server.says("Well.", usage=(21, 4))

    text, meta = server.claude().infer(ASKED)

    assert text == "Well."
    assert meta == {
        "model": "claude-test", "prompt_tokens": 21, "completion_tokens": 4, "finish_reason": "stop", "cached": False,
    }  # fmt: skip


def test_the_request_has_the_settings_and_a_separate_system_text(server: Server) -> None:
    server.says("Well.")

    server.claude(temperature=0.5, max_new_tokens=11).infer(ASKED)

    assert server.requests == [
        {"model": "claude-test", "max_tokens": 11, "messages": ASKED[1:], "system": "Be brief.", "temperature": 0.5}
    ]
    assert server.paths == ["/v1/messages"]
    # Versions of the package use different headers.
    assert any("secret-key" in value for value in server.headers[0].values())


@pytest.mark.parametrize("form", ["output_config", "tools", "nothing"])
def test_the_form_that_a_server_takes_is_found_once(server: Server, form: str) -> None:
    server.takes(form, {"a": "bä"})
    llm = server.claude()

    for _ in range(2):
        assert json.loads(llm.infer(ASKED, schema={"type": "object"})[0]) == {"a": "bä"}

    forms = ["output_config", "tools", "nothing"]
    assert list(map(form_of, server.requests)) == [*forms[: forms.index(form) + 1], form]
