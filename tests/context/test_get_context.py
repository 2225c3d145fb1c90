"""`get_context`: quotations with dates and speakers, best first in a small budget, within the budget."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.context import packing
from neurogated.core.quoting import CLOSING, LATER_LINE, OPENING, framed, quoted_memory
from neurogated.core.tokens import TokenCounter, prompt_tokens
from neurogated.text.keywords import count_words
from tests.knowledge.plain_reader import config_of

MAY = datetime(2026, 5, 4, 12, tzinfo=UTC)


def turns(memory: NeuroGraphMemory, user: str | None = "ana") -> list[str]:
    said = [
        "I keep bees behind the barn.",
        "The bees found the lavender.",
        "My sister sails to Oslo, and takes them along.",
    ]
    ids: list[str] = []
    for day, text in enumerate(said):
        message = {"role": "user", "name": "Ana", "content": text}
        moment = MAY + timedelta(days=day)
        ids += memory.add(message, user_id=user, session_id=f"day {day}", timestamp=moment)
    return ids


def test_memories_and_stated_facts_follow_by_time(memory: NeuroGraphMemory) -> None:
    turns(memory)
    memory.facts.add("Ana", "bees", "twelve hives", user_id="ana", valid_from=MAY, timestamp=MAY + timedelta(days=1))
    context = memory.get_context("How are the bees of Ana?", 500, user_id="ana")
    assert re.sub(r"\(later, [^)]*\) ", "", context.text).splitlines() == [
        OPENING,
        "- Ana (4 May 2026): I keep bees behind the barn.",
        "- (fact, stated 5 May 2026, valid since 4 May 2026): Ana bees: twelve hives",
        "- Ana (5 May 2026): The bees found the lavender.",
        "- Ana (6 May 2026): My sister sails to Oslo, and takes them along.",
        CLOSING,
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.text("ab é\n.林", min_size=1, max_size=80).filter(str.strip), min_size=1, max_size=6),
    budget=st.integers(1, 200),
    counter=st.sampled_from([prompt_tokens, count_words, None]),
)
def test_the_text_never_exceeds_its_budget_and_has_whole_memories_and_the_best_one(
    texts: list[str], budget: int, counter: TokenCounter | None, config: MemoryConfig
) -> None:
    with NeuroGraphMemory(config.replace(storage="memory")) as memory:
        for number, text in enumerate(texts):
            memory.add({"role": "user", "content": text}, session_id=f"{number % 2}")
        context = memory.get_context("a b", budget, count_tokens=counter)
        assert context.tokens == ((counter or prompt_tokens)([context.text])[0] if context.text else 0) <= budget
        assert bool(context.text) == bool(context.memories)
        (best,) = memory.recall("a b", top_n=1)
        if budget >= 60:
            # The best memory is never left out for a shorter one.
            whole = memory.get_context("a b", budget, count_tokens=counter, min_score=-1.0)
            fits = (counter or prompt_tokens)([framed([quoted_memory(best.node)])])[0] <= budget
            assert best.id in whole.ids
            assert (best.id in whole.excerpts) is not fits
        for one in context:
            words = one.content.split()
            if one.id not in context.excerpts:
                assert " ".join(words) in " ".join(context.text.replace(LATER_LINE, "\n").split())


def test_a_memory_longer_than_the_budget_gives_its_best_sentences(memory: NeuroGraphMemory) -> None:
    sentences = ["The roof was mended in June.", "The bees moved into the blue hive.", "We ate soup on the terrace."]
    (only,) = memory.add(" ".join(sentences))
    context = memory.get_context("Which hive did the bees move into?", 36)
    assert ": … The bees moved into the blue hive. …" in context.text
    assert context.excerpts == context.ids == (only,)
    assert not memory.get_context("Which hive?", 500).excerpts


def test_a_contested_memory_brings_the_other_side(
    read_by_model: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "REPETITION_COST", 1.0)
    sides = ["I live in Leeds.", "I live in York."]
    with NeuroGraphMemory(config_of(read_by_model, storage="memory")) as memory:
        names = [memory.add({"role": "user", "content": text}, user_id="ana", session_id="one") for text in sides]
        for number in range(9):
            text = f"Where do I live, asked number {number} behind the barn."
            memory.add({"role": "user", "content": text}, user_id="ana", session_id=f"{number}")
        assert memory.conflicts.list(user_id="ana")
        context = memory.get_context("Where do I live?", 120, user_id="ana")
        assert {name for ids in names for name in ids} <= set(context.ids)
        assert context.text.count("(contested)") == 2


def test_explain_says_why_each_memory_is_there(memory: NeuroGraphMemory) -> None:
    turns(memory)
    context = memory.get_context("How are the bees?", 500, user_id="ana", explain=True)
    assert context.choices.keys() == set(context.ids)
    best = min(context.choices.values(), key=lambda choice: choice.rank)
    assert best.rank == 1
    assert sum(best.contributions.values()) == pytest.approx(best.score)
    first = max(context.choices.values(), key=lambda choice: choice.value)
    assert (first.repeats, first.repetition) == (None, 0.0)
    assert f"score {best.score:.3f}" in str(best)
    assert sum(choice.tokens for choice in context.choices.values()) < context.tokens
    assert not memory.get_context("How are the bees?", 500, user_id="ana").choices


def test_explain_names_each_recalled_memory_without_a_place_in_the_budget(memory: NeuroGraphMemory) -> None:
    ids = turns(memory)
    whole = memory.get_context("How are the bees?", 500, user_id="ana", explain=True)
    small = memory.get_context("How are the bees?", 45, user_id="ana", explain=True)
    assert (len(small.ids), small.left_out) != (0, ())
    assert {*small.ids, *small.left_out} == {*whole.ids, *whole.left_out} <= {*ids}
    assert {*small.ids}.isdisjoint(small.left_out)


def test_a_context_from_the_past_has_the_texts_and_echoes_of_that_time(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        first, second, *_ = memory.add([f"The bees of hive {number} are well." for number in (3, 1, 2)], timestamp=MAY)
        memory.add({"role": "user", "content": "I keep bees."}, user_id="ana", session_id="one", timestamp=MAY)
        memory.recall("bees", user_id="ana")
        said = {"role": "assistant", "content": "You keep bees."}
        (echo,) = memory.add(said, user_id="ana", session_id="one", timestamp=MAY)
        then, before = (
            memory.history.list()[-1].sequence,
            memory.get_context("bees", user_id="ana", include_duplicates=True),
        )
        memory.delete(first)
        memory.update(second, "The bees of hive 1 have left.")
        memory.duplicates.separate(echo)
        memory.add("The bees of hive 4 are well.", timestamp=MAY)
        now = memory.get_context("bees", user_id="ana").text
    with NeuroGraphMemory(config) as memory:
        past = memory.get_context("bees", user_id="ana", as_of=then)
        assert past.text == before.text
        assert echo in past.ids
        assert memory.get_context("bees", user_id="ana").text == now != past.text
        assert "hive 4" in now
        assert "hive 3" not in now
        memory.admin.compact()
        erased = memory.get_context("bees", user_id="ana", as_of=then).text
        assert erased.splitlines() == [line for line in before.text.splitlines() if "hive 3" not in line]
