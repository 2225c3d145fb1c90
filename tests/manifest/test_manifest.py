"""The manifest of a memory: its numbers, its text, what it keeps from other users, and its routes."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.cli import main
from neurogated.compose import build
from neurogated.errors import InputError
from neurogated.testing import ManualClock

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


def test_linked_communities_have_the_weights_of_the_edges_between_them(memory: NeuroGraphMemory) -> None:
    ids = memory.add([*SAILS, *BEES])
    memory.graph.associate(ids[0], ids[-1], "near", 0.5)
    memory.graph.associate(ids[-2], ids[1], "near", 0.25)
    found = memory.manifest.get()
    number = {one: community.number for community in found.communities for one in community.node_ids}
    expected = Counter[tuple[int, int]]()
    for edge in memory.store.all_edges():
        first, second = sorted((number[edge.source_id], number[edge.target_id]))
        if first != second:
            expected[first, second] += edge.weight  # type: ignore[assignment]
    assert {(first, second): pytest.approx(weight) for first, second, weight in found.links} == expected
    assert len(expected) > 0
    assert {(one.first, one.second, one.weight) for one in found.bridges} <= set(found.links)


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


def test_a_text_has_no_more_characters_than_clients_show(memory: NeuroGraphMemory) -> None:
    for letter in "abcdefghijkl":
        words = " ".join(f"{letter * 30}{number}" for number in range(8))
        memory.add([f"{words} {letter}{number}" for number in range(3)])
    assert 1_500 < len(memory.manifest.text(token_budget=100_000)) <= 2_048


def test_layers_follow_age_and_use(memory: NeuroGraphMemory) -> None:
    clock = memory.session.clock
    assert isinstance(clock, ManualClock)
    memory.add(SAILS)
    clock.advance(timedelta(days=30))
    memory.add(BEES)
    assert memory.manifest.get().temporal.counts == {"emerging": 8, "active": 0, "decaying": 0, "stable": 8}
    used = {one.id for one in memory.recall("Who mended the sails?", top_n=3)}
    memory.session.runtime.accesses.flush()
    memory.session.manifests.clear()
    temporal = memory.manifest.get().temporal
    assert temporal.counts["active"] == len(used & {node.id for node in memory.find() if "sails" in node.content})
    assert {one.id for one in temporal.examples["active"]} <= used
    clock.advance(timedelta(days=2_000))
    memory.session.manifests.clear()
    assert memory.manifest.get().temporal.counts["decaying"] == 16


def test_communities_are_found_without_igraph(config: MemoryConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "igraph", None)
    monkeypatch.setattr("neurogated.compose.find_spec", lambda _: None)
    with NeuroGraphMemory(config) as memory:
        memory.add([*SAILS, *BEES])
        found = memory.manifest.get()
    assert [one.size for one in found.communities] == [8, 8]
    assert all(bridge.betweenness is None for bridge in found.bridges)
    assert found.topology.clustering is None


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
        memory.manifest.text(token_budget=0)


def test_the_variables_of_the_specification_set_the_cache() -> None:
    given = {"MEMORY_UPDATE_THRESHOLD": "7", "MEMORY_CACHE_TTL_MS": "9", "NEUROGATED_MANIFEST__CACHE_TTL_MS": "8"}
    settings = MemoryConfig.from_mapping(MemoryConfig.environment_values(given)).manifest
    assert (settings.update_threshold, settings.cache_ttl_ms) == (7, 8)
