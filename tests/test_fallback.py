"""A memory whose database is away works in a file, which the database takes over when it is back."""

import contextlib
import warnings
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.abilities import SupportsNamespaces
from neurogated.core.clock import utc_now
from neurogated.core.ports import GraphStorePort
from neurogated.errors import MemoryLockedError, StorageError, UnreachableError
from neurogated.session import fallback
from neurogated.session.fallback import FallbackWarning
from neurogated.storage.log.neo4j import connection
from neurogated.storage.registry import open_alone
from tests.bolt_server import BoltServer
from tests.gate import Gate
from tests.postgres_server import Postgres

_NOW = utc_now()


@pytest.fixture(params=["bolt", "postgresql"])
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Gate, str]]:
    """Return a gate before a real server, open, and the URL of an empty memory behind it."""
    if request.param == "bolt":
        bolt: BoltServer = request.getfixturevalue("bolt_server")
        gate = Gate(bolt.port)
        url = bolt.url().replace(f"localhost:{bolt.port}", f"127.0.0.1:{gate.port}")
    else:
        postgres: Postgres = request.getfixturevalue("postgres")
        gate = Gate.before(postgres.database())
        url = gate.url
    # No server that is away comes back by itself here.
    monkeypatch.setattr(connection, "_RETRY_SECONDS", 0.0)
    gate.open()
    yield gate, url
    gate.shut()


@pytest.fixture
def gate(server: tuple[Gate, str]) -> Gate:
    return server[0]


@pytest.fixture
def config(server: tuple[Gate, str], tmp_path: Path) -> MemoryConfig:
    return MemoryConfig(storage=server[1], save_dir=str(tmp_path / "out"), embedding_name="hash", fallback=True)


@contextlib.contextmanager
def _away(config: MemoryConfig, gate: Gate) -> Iterator[NeuroGraphMemory]:
    """Give the memory in its fallback; the database is back afterwards."""
    gate.shut()
    with pytest.warns(FallbackWarning, match="cannot be reached"):
        memory = NeuroGraphMemory(config)
    with memory:
        yield memory
    gate.open()


def _taken_over(config: MemoryConfig) -> NeuroGraphMemory:
    with pytest.warns(FallbackWarning, match="is back"):
        return NeuroGraphMemory(config)


def _logged(memory: NeuroGraphMemory) -> set[str]:
    return {node.content for entry in memory.store.journal() for node in entry.delta.nodes}


def _folders(config: MemoryConfig) -> list[Path]:
    return list((Path(config.save_dir) / "fallback").glob("*"))


def test_a_database_that_is_away_is_an_error(config: MemoryConfig, gate: Gate) -> None:
    gate.shut()
    with pytest.raises(UnreachableError, match="cannot be reached"):
        NeuroGraphMemory(config.replace(fallback=False))
    assert not _folders(config)


def test_what_was_written_meanwhile_is_taken_over_in_order(config: MemoryConfig, gate: Gate) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add("Ada plays chess.", user_id="ada")
    with _away(config, gate) as memory:
        assert memory.config.storage == "sqlite"
        memory.add("Ada moved to Porto.", user_id="ada", session_id="s", timestamp=_NOW - timedelta(hours=1))
        memory.add("The harbour is loud.", user_id="ada", session_id="s", timestamp=_NOW)
        memory.in_namespace("work").add("The report is due on Friday.", user_id="ada")
        assert "Ada plays chess." not in [found.content for found in memory.recall("chess", user_id="ada")]
    with _taken_over(config) as memory:
        texts = [one.content for one in memory.list(user_id="ada")]
        assert sorted(texts) == ["Ada moved to Porto.", "Ada plays chess.", "The harbour is loud."]
        moments = [entry.delta.at for entry in memory.store.journal()]
        assert moments == sorted(moments)
        assert memory.in_namespace("work").count(user_id="ada") == 1
        assert memory.recall("loud harbour", user_id="ada")[0].content == "The harbour is loud."
        assert memory.admin.check() == []
    assert not _folders(config)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        NeuroGraphMemory(config).close()


def test_a_memory_that_the_database_has_is_not_set_back(config: MemoryConfig, gate: Gate) -> None:
    old = _NOW - timedelta(days=30)
    with NeuroGraphMemory(config) as memory:
        (known,) = memory.add("Ada plays chess.", user_id="ada", importance=0.9, timestamp=old)
        before = memory.store.get_node(known)
    with _away(config, gate) as memory:
        assert memory.add("Ada plays chess.", user_id="ada") == [known]
        (other,) = memory.add("Ada likes tea.", user_id="ada")
    with _taken_over(config) as memory:
        assert memory.store.get_node(known) == before
        memory.store.get_node(other)
    with _away(config, gate) as memory:
        memory.add("Ada plays chess.", user_id="ada")
        memory.delete(known)
    with _taken_over(config) as memory:
        assert [one.id for one in memory.list(user_id="ada")] == [other]


def test_an_erasure_meanwhile_is_an_erasure(config: MemoryConfig, gate: Gate) -> None:
    with _away(config, gate) as memory:
        memory.add("Ada is ill.", user_id="ada")
        memory.add("Ben is well.", user_id="ben")
        assert "Ada is ill." in _logged(memory)
        memory.delete(user_id="ada")
        memory.admin.compact(history=True)
    with _taken_over(config) as memory:
        assert memory.count(user_id="ada") == 0
        assert memory.count(user_id="ben") == 1
        assert "Ben is well." in _logged(memory)
        assert "Ada is ill." not in _logged(memory)


@pytest.mark.parametrize("step", ["pathlib.Path.rename", "neurogated.session.fallback._release", "shutil.rmtree"])
def test_an_interrupted_takeover_is_finished_and_takes_nothing_twice(
    config: MemoryConfig, gate: Gate, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _away(config, gate) as memory:
        (chess,) = memory.add("Ada plays chess.", user_id="ada")

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(step, interrupt)
        with pytest.warns(FallbackWarning), pytest.raises(KeyboardInterrupt):
            NeuroGraphMemory(config)
    # Somebody else deletes the memory meanwhile; a second takeover would bring it back.
    with NeuroGraphMemory(config.replace(fallback=False)) as memory:
        memory.delete(chess)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        memory = NeuroGraphMemory(config)
    with memory:
        assert memory.count(user_id="ada") == 0
        assert isinstance(memory.store, SupportsNamespaces)
        assert memory.store.copies() == []
    assert not _folders(config)


def test_a_takeover_that_another_process_was_faster_with_leaves_no_folder(
    config: MemoryConfig, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _away(config, gate) as memory:
        memory.add("Ada plays chess.", user_id="ada")

    def late(local: MemoryConfig) -> contextlib.AbstractContextManager[GraphStorePort | None]:
        monkeypatch.setattr(fallback, "open_alone", open_alone)
        with _taken_over(config) as memory:
            assert memory.count(user_id="ada") == 1
        return open_alone(local)

    monkeypatch.setattr(fallback, "open_alone", late)
    with NeuroGraphMemory(config) as memory:
        assert memory.count(user_id="ada") == 1
        assert not _folders(config)


def test_nobody_uses_the_database_while_a_process_works_in_the_fallback(config: MemoryConfig, gate: Gate) -> None:
    patient = config.replace(runtime={"write_lock_seconds": 0.1})
    with _away(patient, gate) as memory:
        memory.add("Ada plays chess.", user_id="ada")
        with pytest.warns(FallbackWarning):
            other = NeuroGraphMemory(patient)
        with other:
            assert other.count(user_id="ada") == 1
        gate.open()
        with pytest.raises(MemoryLockedError, match="is back, but"):
            NeuroGraphMemory(patient)
        memory.add("Ada likes tea.", user_id="ada")
        gate.shut()
    with _taken_over(config) as memory:
        assert memory.count(user_id="ada") == 2


def test_a_reader_reads_the_fallback_and_takes_nothing_over(config: MemoryConfig, gate: Gate) -> None:
    reader = config.replace(read_only=True)
    with NeuroGraphMemory(config) as memory:
        memory.add("Ben is well.", user_id="ben")
    gate.shut()
    with pytest.raises(UnreachableError):
        NeuroGraphMemory(reader)
    with _away(config, gate) as memory:
        memory.add("Ada plays chess.", user_id="ada")
        with pytest.warns(FallbackWarning):
            other = NeuroGraphMemory(reader)
        with other:
            assert other.count(user_id="ada") == 1
    with pytest.warns(FallbackWarning, match="lacks"):
        other = NeuroGraphMemory(reader)
    with other:
        assert (other.count(user_id="ada"), other.count(user_id="ben")) == (0, 1)
    _taken_over(config).close()


def test_vectors_of_another_model_are_refused_and_kept(config: MemoryConfig, gate: Gate) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add("Ben is well.", user_id="ben")
    with _away(config.replace(embedding_name="all-MiniLM-L6-v2"), gate) as memory:
        memory.add("Ada plays chess.", user_id="ada")
    with pytest.raises(StorageError, match="hash"):
        NeuroGraphMemory(config)
    assert len(_folders(config)) == 1
    with NeuroGraphMemory(config.replace(fallback=False)) as memory:
        assert memory.count(user_id="ben") == 1
