"""The longest answer that fits a schema."""

from typing import Any

import pytest

from neurogated.llm.bounds import answer_tokens, without_bounds
from neurogated.prompts.prompt_manager import PromptTemplateManager

MOST = 100_000
NAMES = {"type": "array", "items": {"type": "string", "maxLength": 80}, "maxItems": 24}


@pytest.mark.parametrize("name", PromptTemplateManager().names())
def test_every_task_has_a_limit_of_its_own(name: str) -> None:
    assert 512 < answer_tokens(PromptTemplateManager().schema(name), MOST) < 2048


@pytest.mark.parametrize(
    "schema",
    [None, {}, {"type": "string"}, {"type": "array", "items": {"type": "boolean"}}, {"type": "array", "maxItems": 3}],
)
def test_where_nothing_bounds_the_answer_the_setting_does(schema: dict[str, Any] | None) -> None:
    assert answer_tokens(schema, 77) == 77


def test_bounds_are_taken_out_at_every_depth_and_nothing_else() -> None:
    schema = {"type": "object", "properties": {"names": NAMES, "kind": {"type": "string", "enum": ["a"]}}}
    names = {"type": "array", "items": {"type": "string"}}
    assert without_bounds(schema) == {**schema, "properties": {**schema["properties"], "names": names}}  # type: ignore[dict-item]
