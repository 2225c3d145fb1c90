"""Messages that look like echoes and are news, and echoes of memories that are wrong."""

from __future__ import annotations

import pytest

from neurogated import NeuroGraphMemory
from tests.context.test_echoes import BARN, hear


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


def test_an_echo_of_a_wrong_memory_is_marked(memory: NeuroGraphMemory) -> None:
    memory.facts.add("Ana", "home", "Leeds", user_id="ana")
    memory.recall("Where is the home of Ana?", user_id="ana")
    (echo,) = memory.add({"role": "assistant", "content": "The home of Ana is Leeds."}, user_id="ana")
    right = memory.facts.add("Ana", "home", "York", user_id="ana")
    (conflict,) = memory.conflicts.list(user_id="ana")
    memory.conflicts.resolve(conflict.id, right)
    recall = memory.recall("Where is the home of Ana?", user_id="ana", include_duplicates=True)
    assert recall.states[echo] == "wrong"
