"""MemoryOS with a language model."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neurogated.errors import LLMError
from tests.integrations.langgraph.conversations import Open, all_pages, talk
from tests.integrations.langgraph.words import ScriptedChat, lines


def _page(prompt: str) -> dict[str, Any]:
    before, _, page = prompt.partition("\n\nExchange:\n")
    both = "tomato" in before and "tomato" in page
    return {"continues": both, "summary": f"About {page.split()[0]}", "keywords": ["tomato"] if both else ["other"]}


def _traits(prompt: str) -> dict[str, Any]:
    found = [
        {"dimension": name, "value": value, "confidence": 0.8, "message": one["message"], "quote": quote}
        for one in lines(prompt)
        for name, value, quote in (("Pets", "a cat", "cat"), ("Neuroticism", "high", "cat"), ("Cars", "two", "cars"))
    ]
    return {"traits": found}


def _claims(prompt: str) -> dict[str, Any]:
    return {
        "claims": [
            {"message": one["message"], "subject": "user", "attribute": "pet", "value": "cat", "state": "holds",
             "since": "", "until": "", "quote": "my cat"}
            for one in lines(prompt)
        ]
    }  # fmt: skip


ANSWERS: dict[str, Callable[[str], Any]] = {"continues": _page, "dimension": _traits, "claim": _claims}


def test_a_model_describes_pages_and_reads_traits_and_knowledge(opened: Open, tmp_path: Path) -> None:
    chat = ScriptedChat(answers=ANSWERS)
    memory = opened(llm=chat, short_term_max_capacity=1, mid_term_heat_threshold=1.5)
    first = memory.save_memory("ana", "s", "A tomato, and my cat ate it.", "Poor cat.")
    second = memory.save_memory("ana", "s", "The tomato is gone.", "")
    memory.save_memory("ana", "s", "Bye", "")
    memory.flush()
    pages = {page["key"]: page for page in all_pages(memory, tmp_path)}
    assert pages[second]["previous"] == first
    assert pages[first]["summary"] == "About A"
    # What no message says, and what is sensitive, is dropped.
    assert {name: (one["value"], one["evidence"]) for name, one in memory.profile("ana").items()} == {
        "Pets": ("a cat", [first])
    }
    known = memory.knowledge("ana")
    assert [(one["fact"], one["evidence"]) for one in known["user_knowledge"]] == [("user pet: cat", [first])]
    assert known["assistant_knowledge"] == []


def test_a_model_that_fails_leaves_the_work_to_the_next_save(opened: Open, tmp_path: Path) -> None:
    broken = threading.Event()
    broken.set()

    def page(prompt: str) -> dict[str, Any]:
        if broken.is_set():
            raise ConnectionResetError("no network")
        return _page(prompt)

    memory = opened(llm=ScriptedChat(answers={**ANSWERS, "continues": page}), short_term_max_capacity=1)
    keys = talk(memory, 4)
    with pytest.raises(LLMError, match="no network"):
        memory.flush()
    assert memory.search_memory("ana", "tomato plants", 9).hits
    broken.clear()
    keys += talk(memory, 1)
    memory.flush()
    assert [page["key"] for page in all_pages(memory, tmp_path)] == keys


def test_the_budget_bounds_the_calls_and_the_next_opening_goes_on(opened: Open, tmp_path: Path) -> None:
    chat = ScriptedChat(answers=ANSWERS)
    memory = opened(llm=chat, short_term_max_capacity=1, max_llm_calls=2)
    keys = talk(memory, 6)
    with pytest.raises(LLMError, match="calls"):
        memory.flush()
    assert len(chat.asked) == 2
    memory.close()
    memory = opened(llm=chat, short_term_max_capacity=1)
    keys += talk(memory, 1)
    memory.flush()
    assert [page["key"] for page in all_pages(memory, tmp_path)] == keys
