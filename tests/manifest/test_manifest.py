"""The manifest of a memory: its numbers, its text, what it keeps from other users, and its routes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.manifest.creation import keywords_and_names, words_in
from neurogated.session.compose import build
from neurogated.testing import ManualClock
from tests.golden import rows

SAILS = [f"The sails of the ship Marrow were mended on day {day} by the sailmaker." for day in range(8)]
BEES = [f"The bees in the hive of Odile made honey in week {week} of the clover." for week in range(8)]


@pytest.fixture
def storage() -> str:
    return "memory"


@pytest.fixture
def memory(config: MemoryConfig, clock: ManualClock) -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(config, parts=build(config, clock)) as opened:
        yield opened


def test_the_numbers_of_a_manifest_agree(memory: NeuroGraphMemory) -> None:
    memory.add([*SAILS, *BEES])
    found = memory.manifest.get()
    assert found.nodes == 16
    assert found.edges == len(list(memory.store.all_edges()))
    assert found.average_degree == 2 * found.edges / found.nodes
    assert sum(found.temporal.counts.values()) == 16
    assert sum(one.size for one in found.communities) == found.topology.linked == 16
    json.dumps(found.as_dict())


def test_the_manifest_of_a_user_holds_nothing_of_another(memory: NeuroGraphMemory) -> None:
    memory.add(SAILS, user_id="ana")
    alone = memory.manifest.get(user_id="ana")
    memory.add(BEES, user_id="bob")
    memory.session.manifests.clear()
    after = memory.manifest.get(user_id="ana")
    for name in ("nodes", "edges", "topology", "bridges"):
        assert getattr(after, name) == getattr(alone, name)
    assert [one.keywords for one in after.communities] == [one.keywords for one in alone.communities]
    assert "Odile" not in memory.manifest.text(user_id="ana")
    assert memory.manifest.get().nodes == 0


@pytest.mark.parametrize("change", ["delete", "update"])
def test_a_text_that_is_gone_leaves_the_manifest(memory: NeuroGraphMemory, change: str) -> None:
    (gone,) = memory.add("The treasure of Quillon is under the oak.")
    assert "Quillon" in memory.manifest.text()
    memory.delete(gone) if change == "delete" else memory.update(gone, "Nothing is there.")
    assert "Quillon" not in memory.manifest.text()


@pytest.mark.parametrize("budget", [1, 30, 120, 500])
def test_a_text_keeps_its_budget_by_whole_lines(memory: NeuroGraphMemory, budget: int) -> None:
    memory.add([*SAILS, *BEES])
    whole = memory.manifest.text(token_budget=10_000).splitlines()
    text = memory.manifest.text(token_budget=budget)
    assert len(text) <= 2_048
    assert memory.session.parts.embedder.count_tokens([text])[0] <= budget
    assert set(text.splitlines()) <= set(whole)
    assert bool(text) == (budget > 1)


@pytest.mark.parametrize("life", rows(__file__, "lives"), ids=("en", "de", "fr", "es", "zh"))
def test_a_name_has_the_subject_and_no_opener_day_or_verb_that_always_stands_beside_it(
    memory: NeuroGraphMemory, life: tuple[Any, ...]
) -> None:
    said, subjects, *rest = life
    words = []
    for subject, opener, *others in zip(subjects, *rest, strict=True):
        added = memory.add([said.format(opener, subject, *others)] * 6, session_id=opener)
        words.append(words_in(memory.store.get_nodes(added), 6))
    assert [name for _, name in keywords_and_names(words, words)] == list(subjects)


def test_the_form_of_a_subject_is_the_same_in_every_process(memory: NeuroGraphMemory) -> None:
    subjects = ["dinner", "garden", "printer", "harbor", "valve", "pump", "field", "letter", "bridge", "sail"]
    (one,) = memory.add(
        " ".join(f"We had the {subject}." for subject in subjects), tags=[f"the {subject}" for subject in subjects]
    )
    assert set(subjects) <= set(words_in([memory.get(one)], 1).shown.values())


def test_a_question_is_routed_to_the_community_that_answers_it(memory: NeuroGraphMemory) -> None:
    memory.add([*SAILS, *BEES])
    for by in ("meaning", "words"):
        best, *_ = memory.manifest.route("Who has a hive with honey?", by=by)
        assert "bees" in best.keywords
