"""Messages that look like echoes and are news, and echoes of memories that are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from neurogated import NeuroGraphMemory
from tests.context.test_echoes import BARN, hear
from tests.knowledge.plain_reader import config_of


@pytest.mark.parametrize("answer", ["You keep bees behind the barn. No.", f"{BARN} Not so!"])
def test_a_denial_is_news(memory: NeuroGraphMemory, answer: str) -> None:
    hear(memory)
    (said,) = memory.add({"role": "assistant", "content": answer}, session_id="one")
    assert said in memory.recall("bees behind the barn").ids


def test_another_person_in_the_same_words_is_no_echo(memory: NeuroGraphMemory) -> None:
    memory.add({"role": "user", "name": "Ana", "content": "I am allergic to nuts."}, session_id="one")
    memory.recall("nuts")
    (said,) = memory.add({"role": "assistant", "name": "Ben", "content": "I am allergic to nuts."}, session_id="one")
    assert said in memory.recall("nuts").ids


def test_an_echo_of_a_wrong_memory_is_marked(read_by_model: Mapping[str, Any]) -> None:
    with NeuroGraphMemory(config_of(read_by_model, storage="memory")) as memory:
        memory.add({"role": "user", "content": "I live in Leeds."}, user_id="ana")
        memory.recall("Where do I live?", user_id="ana")
        (echo,) = memory.add({"role": "assistant", "content": "You live in Leeds."}, user_id="ana")
        (right,) = memory.add({"role": "user", "content": "I live in York."}, user_id="ana")
        (conflict,) = memory.conflicts.list(user_id="ana")
        memory.conflicts.resolve(conflict.id, right)
        recall = memory.recall("Where do I live?", user_id="ana", include_duplicates=True)
        assert recall.states[echo] == "wrong"
