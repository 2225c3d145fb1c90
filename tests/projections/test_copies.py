"""Compaction reaches every place that has received texts or ids, or says which one it did not reach."""

import json
import socket
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory, restore_snapshot
from neurogated.core import outage
from neurogated.core.ports import Message
from neurogated.errors import InputError, StorageError
from tests.repeating import Repeating

if TYPE_CHECKING:
    from tests.projections.conftest import Redis

WORD = "swordfish"


def files_with(folder: Path, word: str = WORD) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes())


def with_servers(config: MemoryConfig, **settings: object) -> MemoryConfig:
    return config.replace(metabolism=settings)


def state(config: MemoryConfig) -> None:
    """State a secret of Ana, and something of nobody."""
    with NeuroGraphMemory(config) as memory:
        memory.facts.add("Ana", "pet", WORD, user_id="ana")
        memory.facts.add("Bob", "pet", "heron")


def erase(memory: NeuroGraphMemory, **options: Any) -> None:  # noqa: ANN401
    memory.delete(user_id="ana")
    memory.admin.compact(history=True, **options)


@pytest.fixture(autouse=True)
def _servers_are_tried_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "RETRY_SECONDS", 0.0)


@pytest.fixture
def silent() -> Iterator[int]:
    """Return the port of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


# Facts


@pytest.mark.parametrize("first", [None, "sqlite:///{}/elsewhere.db"])
@pytest.mark.parametrize("then", [None, "off", "sqlite:///{}/other.db"])
def test_rows_are_erased_whatever_the_settings_of_the_process_are(
    config: MemoryConfig, tmp_path: Path, first: str | None, then: str | None
) -> None:
    first, then = (url and url.format(tmp_path) for url in (first, then))
    state(with_servers(config, facts_url=first))
    assert files_with(tmp_path)
    with NeuroGraphMemory(with_servers(config, facts_url=then)) as memory:
        erase(memory)
        assert files_with(tmp_path) == []
    with NeuroGraphMemory(with_servers(config, facts_url=first)) as memory:
        memory.facts.catch_up()
    file = Path(config.save_dir) / "facts.db" if first is None else tmp_path / "elsewhere.db"
    with sqlite3.connect(file) as database:
        assert database.execute("SELECT value FROM facts").fetchall() == [("heron",)]
    database.close()


def test_a_dropped_namespace_leaves_no_rows_elsewhere(config: MemoryConfig, tmp_path: Path) -> None:
    with NeuroGraphMemory(with_servers(config, facts_url=f"sqlite:///{tmp_path}/e.db")) as memory:
        memory.in_namespace("inner").facts.add("Ana", "pet", WORD)
    with NeuroGraphMemory(config) as memory:
        memory.admin.drop_namespace("inner")
        erase(memory)
    assert files_with(tmp_path) == []


@pytest.mark.parametrize("how", ["from scratch", "restored"])
def test_a_memory_that_replaces_another_erases_the_rows_of_it(config: MemoryConfig, tmp_path: Path, how: str) -> None:
    elsewhere, snapshot = tmp_path / "elsewhere.db", tmp_path / "empty.snapshot"
    with NeuroGraphMemory(config) as memory:
        memory.admin.snapshot(snapshot)
    state(with_servers(config, facts_url=f"sqlite:///{elsewhere}"))
    assert WORD.encode() in elsewhere.read_bytes()
    without = with_servers(config, facts_url="off")
    if how == "restored":
        restore_snapshot(without, snapshot, replace=True)
    with NeuroGraphMemory(without.replace(force_index_from_scratch=how == "from scratch")) as memory:
        memory.admin.compact()
        assert memory.admin.check() == []
    assert WORD.encode() not in elsewhere.read_bytes()
    elsewhere.unlink()
    elsewhere.mkdir()
    with NeuroGraphMemory(without) as memory, pytest.raises(StorageError, match="elsewhere"):
        memory.admin.compact()


def test_a_password_is_recorded_nowhere(config: MemoryConfig, silent: int) -> None:
    url = f"postgresql://ana:tiger@127.0.0.1:{silent}/facts"
    settings = with_servers(config, facts_url=url, canvas_url=f"redis://:tiger@127.0.0.1:{silent}/3")
    with NeuroGraphMemory(settings) as memory:
        memory.facts.add("Ana", "pet", WORD, user_id="ana")
        places = memory.store.copies()
        assert places == [f"postgresql://ana@127.0.0.1:{silent}/facts", f"redis://127.0.0.1:{silent}/3"]
        with pytest.raises(StorageError) as caught:
            erase(memory)
        assert all(place in str(caught.value) for place in places)
        assert "tiger" not in str(caught.value)
        with pytest.raises(InputError, match="in use"):
            memory.admin.compact(forget=places)
    assert files_with(Path(config.save_dir), "tiger") == []
    with NeuroGraphMemory(config) as memory:
        with pytest.raises(StorageError, match="redis"):
            memory.admin.compact(forget=places[:1])
        memory.admin.compact(forget=places[1:])
        memory.admin.compact()
        with pytest.raises(InputError, match="no places"):
            memory.admin.compact(forget=places)


# Canvases


def test_compaction_waits_for_a_canvas_that_hangs(config: MemoryConfig, redis_server: "Redis") -> None:
    redis_server.start()
    client = redis_server.client()
    client.flushall()
    settings = with_servers(config, canvas_url=redis_server.url)
    with NeuroGraphMemory(settings) as memory:
        memory.add("Ana has a pet.", id=WORD, user_id="ana", session_id="one")
        memory.recall("pet", user_id="ana", session_id="one")
        with redis_server.paused(), pytest.raises(StorageError) as caught:
            erase(memory)
        assert redis_server.url in str(caught.value)
    assert client.keys("neurogated:canvas:*")
    # Another process, whose settings name no server, completes it. A full server has dropped the index of the keys.
    client.delete(min(client.keys("neurogated:canvas:*"), key=len))
    with NeuroGraphMemory(config) as memory:
        memory.admin.compact()
    assert client.keys("neurogated:canvas:*") == []
    client.close()


def test_a_late_recall_brings_no_erased_id_back(
    config: MemoryConfig, redis_server: "Redis", monkeypatch: pytest.MonkeyPatch
) -> None:
    redis_server.start()
    client = redis_server.client()
    client.flushall()
    settings = with_servers(config, canvas_url=redis_server.url)
    with NeuroGraphMemory(settings) as memory, NeuroGraphMemory(settings) as other:
        memory.add("Ana has a pet.", id=WORD, user_id="ana")
        memory.add("Bob has a pet.", user_id="bob")
        enter = memory.session.parts.canvas.enter

        def late(*given: Any) -> None:  # noqa: ANN401
            erase(other)
            enter(*given)

        monkeypatch.setattr(memory.session.parts.canvas, "enter", late)
        memory.recall("pet", user_id="ana")
        members = [
            member for key in client.keys("*") if client.type(key) == b"zset" for member in client.zrange(key, 0, -1)
        ]
        assert WORD.encode() not in members
    client.close()


# Answers of a language model


class Late(Repeating):
    """Before its answers, the test acts. The first answer to a question does not fit the schema."""

    before: Iterator[Callable[[], None]] = iter(())

    def infer(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        next(self.before, lambda: None)()
        text, about = super().infer(messages, schema=schema)
        said = json.loads(text)["answer"]
        return (text if "not of JSON" in str(messages) else f"I think of {said}, not of JSON."), about


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_a_late_answer_about_erased_texts_is_not_cached(
    config: MemoryConfig, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    """The erasure runs before the first request, or before the answer to the first or to the second one."""
    model = Late(WORD)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setattr("neurogated.session.compose.get_llm", lambda *_, **__: model)
    with NeuroGraphMemory(config.replace(llm={"use": "auto"})) as memory, NeuroGraphMemory(config) as other:
        memory.add(f"Ana has a {WORD}.", user_id="ana")
        recall = memory.recall("What has Ana?", user_id="ana")
        if calls:
            model.before = iter([lambda: None] * (calls - 1) + [lambda: erase(other)])
        else:
            erase(other)
        assert memory.answer(recall) == WORD
        assert files_with(Path(config.save_dir)) == []
        memory.add("Bob has a heron.")
        memory.answer(memory.recall("What has Bob?"))
        assert any(name.startswith("llm_cache.db") for name in files_with(Path(config.save_dir), "nothing"))
