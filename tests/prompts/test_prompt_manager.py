import json
import re
import zlib
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from neurogated.core.judgements import QuestionKind
from neurogated.prompts.prompt_manager import (
    STRENGTHS,
    PromptTemplate,
    PromptTemplateManager,
    built_in_prompt,
    few_shot,
)

# Version and checksum of the words of each prompt: other words need another version.
WORDS = {
    "causal_extraction": "2:46c70439",
    "claims": "3:133a5a42",
    "community_names": "1:9383b820",
    "consolidation": "1:63b5b8d6",
    "contradiction": "5:7d873612",
    "dialogue_page": "1:77dc4aa6",
    "dialogue_traits": "1:aa568344",
    "grade": "1:d9638c92",
    "importance": "2:3a8580c2",
    "kernel_generation": "3:4a56c8cf",
    "ner": "2:84e95ab6",
    "qa": "3:c195e381",
}
NAMES = list(WORDS)
VALUES = {name: built_in_prompt(name).values for name in NAMES}
MANAGER = PromptTemplateManager()
ANSWERS = [
    (name, json.loads(message["content"]))
    for name in NAMES
    for message in MANAGER.render(name, **dict.fromkeys(VALUES[name], "x"))
    if message["role"] == "assistant"
]
# Characters that could confuse a formatter are frequent here.
TEXTS = st.text(alphabet=st.one_of(st.sampled_from("{}$%\"'\\\n\t@#你 "), st.characters(exclude_categories=["Cs"])))


def answers(name: str) -> list[dict[str, Any]]:
    return [answer for owner, answer in ANSWERS if owner == name]


@pytest.mark.parametrize("name", NAMES)
def test_the_words_of_a_version_never_change(name: str) -> None:
    words = [MANAGER.render(name, **dict.fromkeys(VALUES[name], "x")), MANAGER.schema(name)]
    checksum = zlib.crc32(json.dumps(words).encode())

    assert WORDS[name] == f"{MANAGER.version(name)}:{checksum:08x}"


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_is_system_text_examples_and_the_request(name: str) -> None:
    roles = [message["role"] for message in MANAGER.render(name, **dict.fromkeys(VALUES[name], "x"))]

    assert roles == ["system", *["user", "assistant"] * (len(roles) // 2 - 1), "user"]
    assert len(answers(name)) >= 2


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_any_text_is_inserted_unchanged(name: str, data: st.DataObject) -> None:
    texts = {value: data.draw(TEXTS, label=value) for value in VALUES[name]}
    marks = {value: f"<<{value}>>" for value in VALUES[name]}

    expected = MANAGER.render(name, **marks)[-1]["content"]
    # Inserted from the last to the first, so that no inserted text is searched for placeholders.
    for value, at in sorted(((value, expected.index(mark)) for value, mark in marks.items()), key=lambda v: -v[1]):
        expected = expected[:at] + texts[value] + expected[at + len(marks[value]) :]

    assert MANAGER.render(name, **texts)[-1] == {"role": "user", "content": expected}


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_asked_for_as_strict_servers_want_it(name: str) -> None:
    schema = MANAGER.schema(name)

    Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    assert schema["required"] == list(schema["properties"])
    assert json.loads(json.dumps(schema)) == schema


@pytest.mark.parametrize(("name", "answer"), ANSWERS)
def test_the_examples_answer_as_they_ask(name: str, answer: Mapping[str, Any]) -> None:
    Draft202012Validator(MANAGER.schema(name)).validate(answer)


def test_a_prompt_of_ones_own_replaces_that_of_the_same_name() -> None:
    user = "$text for $$5"
    own = PromptTemplate("ner", "mine", "Names.", few_shot(user, [({"text": "{a}"}, {"n": "ü"})]), user, {})
    other = PromptTemplate("summary", "1", "Sum up.", (), "$text", {})
    manager = PromptTemplateManager([own, other])

    assert manager.names() == [*NAMES, "summary"]
    assert manager.version("ner") == "mine"
    assert manager.render("ner", text="$x")[1:] == [
        {"role": "user", "content": "{a} for $5"},
        {"role": "assistant", "content": '{"n": "ü"}'},
        {"role": "user", "content": "$x for $5"},
    ]


def test_answers_are_asked_for_in_the_words_that_the_package_reads() -> None:
    schemas = json.dumps([MANAGER.schema(name) for name in NAMES])
    words = re.findall(r'"(?:strength|certainty)": \{"type": "string", "enum": (\[[^]]*\])', schemas)
    assert [tuple(json.loads(one)) for one in words] == [STRENGTHS] * 4
    kinds = MANAGER.schema("kernel_generation")["properties"]["kind"]["enum"]
    assert kinds == [kind.value for kind in QuestionKind]
