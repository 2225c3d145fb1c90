"""A memory keeps in step with a folder of notes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.calls import calls_of
from neurogated import EdgeType, MemoryConfig, NeuroGraphMemory
from neurogated.components.vault import Synced
from neurogated.errors import DatasetError


@pytest.fixture
def memory() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as one:
        yield one


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "Notes"
    _write(
        folder / "Tea.md",
        "---\ntitle: Tea in the evening\ntags: [drink]\n---\nAsk [[Ana|her]], see [it](plan/Mon%20day.md).\n",
    )
    _write(folder / "people" / "Ana.md", "Ana bakes. See [[Tea in the evening]] and [[nobody]].")
    _write(folder / "plan" / "Mon day.md", "Rooibos.")
    _write(folder / ".obsidian" / "hidden.md", "Settings.")
    _write(folder / "picture.png", "no note")
    return folder


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _texts(memory: NeuroGraphMemory) -> dict[str, str]:
    return {one.metadata["path"]: one.content for one in memory.find(user_id="ana") if "path" in one.metadata}


def _links(memory: NeuroGraphMemory) -> set[tuple[str, str]]:
    paths = {one.id: one.metadata["path"] for one in memory.find(user_id="ana")}
    edges = memory.store.all_edges()
    return {(paths[one.source_id], paths[one.target_id]) for one in edges if one.type is EdgeType.ASSOC}


def test_notes_have_titles_tags_and_links(memory: NeuroGraphMemory, vault: Path) -> None:
    done = memory.admin.sync(vault, user_id="ana")
    assert (done.added, done.changed, done.removed, done.unchanged, done.linked) == (3, 0, 0, 0, 3)
    titles = {one.metadata["path"]: (one.title, one.tags) for one in memory.find(user_id="ana")}
    assert titles["Tea.md"] == ("Tea in the evening", ("drink",))
    assert titles["people/Ana.md"] == ("Ana", ())
    tea, ana, plan = "Tea.md", "people/Ana.md", "plan/Mon day.md"
    assert _links(memory) == {(tea, ana), (tea, plan), (ana, tea)}


def test_a_second_visit_writes_nothing_and_a_changed_note_only_itself(memory: NeuroGraphMemory, vault: Path) -> None:
    memory.admin.sync(vault, user_id="ana")
    before = memory.store.view().sequence
    done = memory.admin.sync(vault, user_id="ana")
    assert (done.added, done.changed, done.removed, done.unchanged, done.linked) == (0, 0, 0, 3, 0)
    assert memory.store.view().sequence == before
    _write(vault / "people" / "Ana.md", "Ana paints.")
    done = memory.admin.sync(vault, user_id="ana")
    assert (done.changed, done.unchanged) == (1, 2)
    assert _texts(memory)["people/Ana.md"] == "Ana paints."
    assert _links(memory) == {("Tea.md", "people/Ana.md"), ("Tea.md", "plan/Mon day.md")}


def test_a_visit_that_was_killed_before_its_links_is_finished_by_the_next(
    memory: NeuroGraphMemory, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("neurogated.components.vault._connect", killed)
        with pytest.raises(KeyboardInterrupt):
            memory.admin.sync(vault, user_id="ana")
    assert _links(memory) == set()
    done = memory.admin.sync(vault, user_id="ana")
    assert (done.added, done.unchanged, done.linked) == (0, 3, 3)
    before = memory.store.view().sequence
    assert memory.admin.sync(vault, user_id="ana").linked == 0
    assert memory.store.view().sequence == before


def test_a_note_that_cannot_be_stored_any_more_is_told_and_stays_as_it_was(
    memory: NeuroGraphMemory, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.admin.sync(vault, user_id="ana")
    kept, links = _texts(memory), _links(memory)
    monkeypatch.setattr("neurogated.components.vault.MOST_CHARS", 20)
    _write(vault / "Tea.md", "Coffee, and much more than fits.")
    (vault / "people" / "Ana.md").unlink()
    done = memory.admin.sync(vault, user_id="ana")
    assert (len(done.faults), done.removed, done.changed) == (1, 1, 0)
    assert _texts(memory) == {path: text for path, text in kept.items() if path != "people/Ana.md"}
    assert _links(memory) == {pair for pair in links if "people/Ana.md" not in pair}


def test_vaults_and_users_do_not_mix(memory: NeuroGraphMemory, vault: Path, tmp_path: Path) -> None:
    other = tmp_path / "Work"
    _write(other / "Tea.md", "Coffee.")
    memory.admin.sync(vault, user_id="ana")
    memory.admin.sync(other, user_id="ana")
    memory.admin.sync(vault, user_id="bob")
    assert memory.count(user_id="ana") == 4
    (other / "Tea.md").unlink()
    assert memory.admin.sync(other, user_id="ana").removed == 1
    assert memory.count(user_id="ana") == memory.count(user_id="bob") == 3
    with pytest.raises(DatasetError, match="no folder"):
        memory.admin.sync(tmp_path / "missing", user_id="ana")


_NAMES = st.sampled_from(["a", "b", "sub/a", "sub/c"])
_NOTES = st.dictionaries(
    _NAMES, st.lists(st.sampled_from(["x", "[[a]]", "[[b]]", "[[c]]", "[w](a.md)", "y"]), max_size=3)
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(visits=st.lists(_NOTES, min_size=2, max_size=4))
def test_after_any_changes_the_memory_is_that_of_a_first_visit(
    tmp_path_factory: pytest.TempPathFactory, visits: list[dict[str, list[str]]]
) -> None:
    folder, plain = tmp_path_factory.mktemp("vault"), MemoryConfig(storage="memory", embedding_name="hash")
    with NeuroGraphMemory(plain) as memory, NeuroGraphMemory(plain) as fresh:
        for notes in visits:
            for path in folder.rglob("*.md"):
                path.unlink()
            for name, words in notes.items():
                _write(folder / f"{name}.md", " ".join(words))
            memory.admin.sync(folder, user_id="ana")
        fresh.admin.sync(folder, user_id="ana")
        assert _texts(memory) == _texts(fresh)
        assert _links(memory) == _links(fresh)


def test_a_watched_folder_is_followed(memory: NeuroGraphMemory, vault: Path) -> None:
    visits = memory.admin.watch(vault, user_id="ana")
    assert next(visits).added == 3
    changes = iter([{(2, str(vault / "Tea.md"))}, {(1, str(vault / "plan"))}])
    _write(vault / "Tea.md", "Coffee.")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("watchfiles.watch", lambda *_, **__: changes)
        assert next(visits).changed == 1
        (vault / "plan" / "Mon day.md").unlink()
        assert next(visits).removed == 1
    assert _texts(memory)["Tea.md"] == "Coffee."


def test_the_work_for_a_changed_note_of_a_watched_folder_hardly_grows_with_it(
    memory: NeuroGraphMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    for size in (100, 400):
        folder = tmp_path / str(size)
        for number in range(size):
            _write(folder / f"{number}.md", f"Note {number}. See [[{number * 7 % size}]] and [[{number * 13 % size}]].")
        monkeypatch.setattr("watchfiles.watch", lambda folder, **_: iter([{(2, str(folder / "5.md"))}]))
        visits = memory.admin.watch(folder, user_id="ana")
        assert next(visits).added == size
        _write(folder / "5.md", "Changed. See [[9]].")
        done: list[Synced] = []
        calls.append(calls_of(lambda: done.append(next(visits))))  # noqa: B023 - called in this round
        assert [(one.changed, one.unchanged, one.linked) for one in done] == [(1, size - 1, 1)]
        assert "Changed. See [[9]]." in _texts(memory).values()
    assert calls[1] < 2 * calls[0]


def test_a_mirror_of_another_vault_leaves_notes_that_are_kept_in_step(
    memory: NeuroGraphMemory, vault: Path, tmp_path: Path
) -> None:
    memory.admin.sync(vault, user_id="ana")
    kept = _texts(memory)
    _write(tmp_path / "Other" / "Hens.md", "I keep hens.")
    done = memory.admin.import_from("vault", tmp_path / "Other", user_id="ana", mirror=True)
    assert (done.added, done.deleted, done.missing) == (1, 0, 0)
    assert kept.items() <= _texts(memory).items()
