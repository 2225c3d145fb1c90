"""A language model for tests of erasure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from neurogated import BaseLLM
from neurogated.core.ports import Message


class Repeating(BaseLLM):
    """Says a word if it reads it: after an erasure it is asked about what is left, and must not bring the word back."""

    name = "repeating"
    parameters: Mapping[str, Any] = {}

    def __init__(self, word: str) -> None:
        self._word = word

    def infer(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        assert messages or schema
        said = self._word if any(self._word in text for message in messages for text in message.values()) else "nothing"
        return json.dumps({"thought": "t", "answer": said}), {"finish_reason": "stop"}
