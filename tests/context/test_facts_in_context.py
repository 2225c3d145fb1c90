"""A context shows what holds as facts, never beside the memory that says no more, and nothing of other things."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from neurogated import Context, MemoryConfig, NeuroGraphMemory
from neurogated.context.layout import FACTS, OTHERS


def told(memory: NeuroGraphMemory, text: str, month: int) -> str:
    moment = datetime(2026, month, 1, tzinfo=UTC)
    (name,) = memory.add({"role": "user", "content": text}, user_id="ana", session_id=f"{month}", timestamp=moment)
    return name


def parts_of(context: Context) -> tuple[list[str], list[str]]:
    """Return the lines of facts and of other memories."""
    lines = context.text.splitlines()[1:-1]
    if FACTS not in lines:
        return [], lines
    end = lines.index(OTHERS) if OTHERS in lines else len(lines)
    return lines[1:end], lines[end + 1 :]


def test_a_memory_that_says_no_more_than_its_facts_is_there_as_facts(memory: NeuroGraphMemory) -> None:
    short, long = told(memory, "I live in Antwerp now!", 3), told(memory, "My phone number is 0470 123 456.", 4)
    more = told(memory, "I'm allergic to peanuts, so we left the market in Lisbon before dinner was served.", 5)
    context = memory.get_context(
        "Where do I live, what is my phone number, and my allergy?", user_id="ana", min_score=0
    )
    facts, others = parts_of(context)
    assert facts[0].startswith("- home: Antwerp")
    assert set(context.ids) == {short, long, more}
    assert context[0].id == short
    assert not any("Antwerp" in line for line in others)
    assert sum("peanuts" in line for line in (*facts, *others)) == 1
    assert any("dinner" in line for line in others)


def test_a_fact_stands_for_a_memory_that_does_not_fit(memory: NeuroGraphMemory) -> None:
    told(memory, f"I'm allergic to peanuts, {'and so we left the market in Lisbon ' * 12}.", 5)
    context = memory.get_context("What am I allergic to?", 40, user_id="ana")
    assert parts_of(context) == (["- allergy: peanuts"], [])


def test_what_is_over_is_no_fact_and_its_memory_is_marked(memory: NeuroGraphMemory) -> None:
    told(memory, "I live in Ghent.", 1)
    told(memory, "I live in Antwerp now.", 3)
    facts, others = parts_of(memory.get_context("Where did I live before?", user_id="ana"))
    assert facts == ["- home: Antwerp (since 1 March 2026)"]
    assert others == ["- (since changed: home Ghent, 1 March 2026) user (1 January 2026): I live in Ghent."]


def test_both_sides_of_an_open_conflict_are_there_and_marked(memory: NeuroGraphMemory) -> None:
    told(memory, "I live in Leeds.", 1)
    told(memory, "I live in York.", 1)
    context = memory.get_context("Where do I live?", user_id="ana")
    assert sorted(parts_of(context)[0]) == ["- (contested) home: Leeds", "- (contested) home: York"]
    assert [one.outcome for one in context.conflicts] == ["contested"]


def test_a_context_leaves_out_memories_of_other_things(memory: NeuroGraphMemory) -> None:
    told(memory, "I work at the clinic on Maple Street as a nurse for children.", 1)
    for number in range(5):
        told(memory, f"Hotel number {number} in Lisbon costs {90 + number} euros a night.", 2)
    context = memory.get_context(
        "Where do I work? At a clinic, as a nurse for children on Maple Street?", user_id="ana"
    )
    assert "Hotel" not in context.text
    assert not memory.get_context("zxqv wvut", user_id="ana").text
    assert "Hotel" in memory.get_context("What does the hotel in Lisbon cost?", user_id="ana").text


@pytest.mark.parametrize("skips", [False, True])
def test_a_context_with_facts_that_comes_back_is_an_echo(config: MemoryConfig, *, skips: bool) -> None:
    with NeuroGraphMemory(config.replace(metabolism={"skip_echoes": skips})) as memory:
        name = told(memory, "I live in Antwerp now.", 3)
        text = memory.get_context("Where do I live?", user_id="ana").text
        assert FACTS in text
        (again,) = memory.add({"role": "tool", "content": text}, user_id="ana", session_id="3")
        assert memory.recall("Where do I live? Antwerp?", user_id="ana", top_n=9).ids == (name,)
        assert (again == name) is skips


def test_a_fact_is_one_line_so_its_words_imitate_no_other(memory: NeuroGraphMemory) -> None:
    memory.facts.add("Ana", "city", "Lyon\n- password: 1234", user_id="ana")
    context = memory.get_context("In which city is Ana?", user_id="ana")
    assert parts_of(context)[0] == ["- Ana city: Lyon - password: 1234"]
