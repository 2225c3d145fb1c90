"""The manifest of a memory: its numbers, its text, what it keeps from other users, and its routes."""

import json
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.cli import main
from neurogated.errors import InputError

SAILS = [f"The sails of the ship Marrow were mended on day {day} by the sailmaker." for day in range(8)]
BEES = [f"The bees in the hive of Odile made honey in week {week} of the clover." for week in range(8)]


@pytest.fixture
def storage() -> str:
    return "memory"


def test_the_numbers_of_a_manifest_agree(memory: NeuroGraphMemory) -> None:
    memory.add([*SAILS, *BEES])
    found = memory.manifest.get()
    assert found.nodes == 16
    assert found.edges == memory.view().live_edges().size
    assert found.average_degree == 2 * found.edges / found.nodes
    assert sum(found.temporal.counts.values()) == 16
    assert sum(one.size for one in found.communities) == found.topology.linked == 16
    json.dumps(found.as_dict())


def test_communities_are_named_by_what_distinguishes_them(memory: NeuroGraphMemory) -> None:
    memory.add([*SAILS, *BEES])
    ships, bees = sorted(memory.manifest.get().communities, key=lambda one: "bees" in one.keywords)
    assert "sails" in ships.keywords
    assert "Odile" in bees.keywords


def test_the_manifest_of_a_user_holds_nothing_of_another(memory: NeuroGraphMemory) -> None:
    memory.add(SAILS, user_id="ana")
    alone = memory.manifest.get(user_id="ana")
    memory.add(BEES, user_id="bob")
    memory.session.manifests.clear()
    after = memory.manifest.get(user_id="ana")
    for name in ("nodes", "edges", "topology", "bridges"):
        assert getattr(after, name) == getattr(alone, name)
    assert [one.keywords for one in after.communities] == [one.keywords for one in alone.communities]
    assert "sequence" not in after.as_dict()
    assert "Odile" not in memory.manifest.text(user_id="ana")
    assert memory.manifest.get().nodes == 0


def test_recalls_do_not_change_the_text(memory: NeuroGraphMemory) -> None:
    memory.add([*SAILS, *BEES])
    before = memory.manifest.text()
    for _ in range(100):
        memory.recall("Who mended the sails?")
    memory.session.runtime.accesses.flush()
    assert memory.manifest.text() == before


@pytest.mark.parametrize("change", ["delete", "update"])
def test_a_text_that_is_gone_leaves_the_manifest(memory: NeuroGraphMemory, change: str) -> None:
    (gone,) = memory.add("The treasure of Quillon is under the oak.")
    assert "Quillon" in memory.manifest.text()
    memory.delete(gone) if change == "delete" else memory.update(gone, "Nothing is there.")
    assert "Quillon" not in memory.manifest.text()


@pytest.mark.parametrize("budget", [1, 30, 120, 500])
def test_a_text_keeps_its_budget_by_whole_lines(memory: NeuroGraphMemory, budget: int) -> None:
    memory.add([*SAILS, *BEES])
    whole = memory.manifest.text(budget=10_000).splitlines()
    text = memory.manifest.text(budget=budget)
    assert len(text) <= 2_048
    assert set(text.splitlines()) <= set(whole)


def test_a_question_is_routed_to_the_community_that_answers_it(memory: NeuroGraphMemory) -> None:
    memory.add([*SAILS, *BEES])
    for by in ("meaning", "words"):
        best, *_ = memory.manifest.route("Who has a hive with honey?", by=by)
        assert "bees" in best.keywords


def test_the_command_line_prints_the_manifest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = ("--save_dir", str(tmp_path), "--embedding_name", "hash")
    assert main(["add", "The pump failed on Monday.", *place]) == 0
    capsys.readouterr()
    assert main(["manifest", *place]) == 0
    assert "The pump failed on Monday." in capsys.readouterr().out
    assert main(["manifest", "--json", *place]) == 0
    assert json.loads(capsys.readouterr().out)["nodes"] == 1


def test_bad_arguments_are_refused(memory: NeuroGraphMemory) -> None:
    with pytest.raises(InputError, match="blank"):
        memory.manifest.route(" ")
    with pytest.raises(InputError, match="budget"):
        memory.manifest.text(budget=0)


def test_the_variables_of_the_specification_set_the_cache() -> None:
    given = {"MEMORY_UPDATE_THRESHOLD": "7", "MEMORY_CACHE_TTL_MS": "9", "NEUROGATED_MANIFEST__CACHE_TTL_MS": "8"}
    settings = MemoryConfig.from_mapping(MemoryConfig.environment_values(given)).manifest
    assert (settings.update_threshold, settings.cache_ttl_ms) == (7, 8)
