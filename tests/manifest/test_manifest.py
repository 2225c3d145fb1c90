"""The manifest of a memory: its numbers, its text, what it keeps from other users, its names, and its rebuilding."""

import json
import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.scope import ScopeFilter
from neurogated.core.view import GraphView
from neurogated.llm.structured import StructuredLLM
from neurogated.manifest.caching import ManifestCache
from neurogated.manifest.creation import ManifestCreator, keywords_and_names, words_in
from neurogated.session.compose import build
from neurogated.testing import ManualClock
from tests.golden import rows
from tests.llm.conftest import Handler, Server, server

SAILS = [f"The sails of the ship Marrow were mended on day {day} by the sailmaker." for day in range(8)]
BEES = [f"The bees in the hive of Odile made honey in week {week} of the clover." for week in range(8)]


@pytest.fixture
def memory(plain: MemoryConfig, clock: ManualClock) -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(plain, parts=build(plain, clock)) as opened:
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


THRESHOLD = 5


@pytest.fixture
def opened(config: MemoryConfig) -> Iterator[Callable[..., NeuroGraphMemory]]:
    """Return a function that opens the memory with settings of its manifest."""
    memories = []

    def open_memory(**settings: int) -> NeuroGraphMemory:
        memories.append(NeuroGraphMemory(config.replace(manifest={"update_threshold": THRESHOLD, **settings})))
        return memories[-1]

    yield open_memory
    for one in memories:
        one.close()


def settle(memory: NeuroGraphMemory) -> None:
    """Wait for the background: all its threads meet, which they do after the tasks before."""
    pool = memory.session.runtime.threads
    meeting = threading.Barrier(pool._max_workers)
    for done in [pool.submit(meeting.wait) for _ in range(meeting.parties)]:
        done.result(timeout=30)


def rebuilt(memory: NeuroGraphMemory) -> int:
    """Return the number of memories in the manifest after the background has rebuilt it."""
    memory.manifest.get()
    settle(memory)
    return memory.manifest.get().nodes


def test_recalls_do_not_change_the_text(opened: Callable[..., NeuroGraphMemory]) -> None:
    memory = opened(cache_ttl_ms=0)
    memory.add([*SAILS, *BEES])
    before, old = memory.manifest.text(), memory.manifest.get()
    for _ in range(100):
        memory.recall("Who mended the sails?")
    memory.session.runtime.accesses.flush()
    memory.add("A stone.")
    rebuilt(memory)
    assert memory.manifest.get().most_used != old.most_used
    assert memory.manifest.text() == before


def test_a_callback_hears_when_the_text_of_its_scope_changes(opened: Callable[..., NeuroGraphMemory]) -> None:
    memory = opened()
    heard = queue.Queue[ScopeFilter]()
    unregister = memory.manifest.on_change(heard.put)
    memory.add(SAILS, user_id="ana")
    before = memory.manifest.text(user_id="ana")
    memory.add(BEES, user_id="bob")
    memory.add(BEES[: THRESHOLD - 1], user_id="ana")
    settle(memory)
    assert heard.empty()
    (last,) = memory.add("A stone.", user_id="ana")
    assert heard.get(timeout=10).user_id == "ana"
    assert memory.manifest.text(user_id="ana") != before
    memory.delete(last)
    assert heard.get(timeout=10).user_id == "ana"
    unregister()
    memory.manifest.text(user_id="ana")
    memory.add(BEES, user_id="ana")
    settle(memory)
    assert heard.empty()


def test_changes_by_another_open_memory_reach_the_manifest(opened: Callable[..., NeuroGraphMemory]) -> None:
    reader, writer = opened(), opened()
    heard = queue.Queue[ScopeFilter]()
    reader.manifest.on_change(heard.put)
    (first, *_) = writer.add(SAILS)
    assert "Quillon" not in reader.manifest.text()
    writer.add([f"The treasure of Quillon has {number} coins." for number in range(THRESHOLD)])
    reader.recall("sails")
    heard.get(timeout=10)
    assert reader.manifest.get().nodes == 8 + THRESHOLD
    assert "Quillon" in reader.manifest.text()
    writer.update(first, "The pump of Zebulon is red.")
    assert any("Zebulon" in word for one in reader.manifest.get().communities for word in one.keywords)
    writer.delete([one.id for one in writer.find() if "Quillon" in one.content])
    assert "Quillon" not in reader.manifest.text()


def test_what_was_forgotten_while_a_manifest_was_checked_is_not_kept_for_the_next_one(
    opened: Callable[..., NeuroGraphMemory], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened()
    memory.add([*SAILS, *BEES])
    memory.manifest.get()
    cache = memory.session.manifests
    starts: list[object] = []
    create = cache._creator.create

    def cleared(*_: object) -> bool:
        cache.clear()
        return False

    def spied(view: GraphView, now: datetime, old: object, start: object) -> object:
        starts.append(start)
        return create(view, now, old, start)  # type: ignore[arg-type]

    monkeypatch.setattr(ManifestCache, "_is_valid", cleared)
    monkeypatch.setattr(ManifestCreator, "create", lambda _, *given: spied(*given))
    memory.manifest.get()
    assert starts == [None]


__all__ = ["server"]


def names(asked: dict[str, Any]) -> list[str]:
    """Return a name for each group of a request."""
    groups = asked["messages"][-1]["content"].splitlines()[1:]
    return [f"About {group.split(', ')[0]}" for group in groups]


def naming(server: Server) -> list[dict[str, Any]]:
    """Return the requests for names."""
    return [one for one in server.requests if one["messages"][-1]["content"].startswith("Groups:")]


@pytest.fixture
def answers(server: Server) -> Server:
    def act(handler: Handler) -> None:
        handler.send(200, handler.message(json.dumps({"names": names(server.requests[-1])}), None, (7, 3)))

    server.script.append(act)
    return server


@pytest.fixture
def unasked(config: MemoryConfig, server: Server) -> Iterator[NeuroGraphMemory]:
    """Return a unasked that got its texts when no model was asked."""
    config = config.replace(manifest={"cache_ttl_ms": 0})
    with NeuroGraphMemory(config) as plain:
        plain.add([*SAILS, *BEES])
    parts = replace(build(config), language_model=StructuredLLM(server.llm()))
    with NeuroGraphMemory(config, parts=parts) as opened:
        yield opened


def test_a_language_model_names_communities_once_in_the_background(unasked: NeuroGraphMemory, answers: Server) -> None:
    first = unasked.manifest.get()
    assert not any(one.name.startswith("About") for one in first.communities)
    text = unasked.manifest.text()
    settle(unasked)
    named = unasked.manifest.get().communities
    assert [one.name for one in named] == [f"About {one.keywords[0]}" for one in named]
    assert unasked.manifest.text() == text
    (one, *_) = unasked.view().live_edges().tolist()
    unasked.store.remove_edge(unasked.view().edge_key(one))
    rebuilt(unasked)
    settle(unasked)
    assert {one.name[:5] for one in unasked.manifest.get().communities} == {"About"}
    (asked,) = naming(answers)
    assert not any(text in json.dumps(asked) for text in (*SAILS, *BEES))


@pytest.mark.parametrize("answer", ['{"names": []}', '{"names": ["' + "x" * 61 + '", "y"]}', "no json"])
def test_names_that_do_not_fit_leave_the_keywords(unasked: NeuroGraphMemory, server: Server, answer: str) -> None:
    server.says(answer)
    unasked.manifest.get()
    settle(unasked)
    (entry,) = unasked.session.manifests._entries.values()
    assert all(one.title is not None for one in entry.created.named.values())
    for one in unasked.manifest.get().communities:
        assert one.name == "y" or {*one.name.split(", ")} < {*one.keywords}
    assert naming(server)
