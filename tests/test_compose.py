"""From settings to parts: sources of settings, the built parts, and the state after an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from neurogated import GraphStore, MemoryConfig, NeuroGraphMemory
from neurogated.compose import build, load_config
from neurogated.core.abilities import SupportsNamespaces
from neurogated.errors import ConfigError, EmbedderMismatchError, MemoryLockedError
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.testing import ManualClock

YAML = "TOP_K_ANCHORS: 7\nMAX_HOPS: 4\nENERGY_DECAY_RATE: 0.25\nllm_base_url: null\n"
JSON = json.dumps({"TOP_K_ANCHORS": 7, "MAX_HOPS": 4, "ENERGY_DECAY_RATE": 0.25, "llm_base_url": None})


def _written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# Sources of settings


@pytest.mark.parametrize(("name", "text"), [("s.yaml", YAML), ("s.yml", YAML), ("s.json", JSON)])
def test_overrides_win_over_environment_and_environment_over_file(tmp_path: Path, name: str, text: str) -> None:
    path = _written(tmp_path, name, text)
    environ = {"NEUROGATED_TOP_K_ANCHORS": "8", "NEUROGATED_MAX_HOPS": "5"}
    config = load_config(path, environ, {"TOP_K_ANCHORS": "9"})
    assert config == MemoryConfig(TOP_K_ANCHORS=9, MAX_HOPS=5, ENERGY_DECAY_RATE=0.25)


def test_without_any_source_the_defaults_hold() -> None:
    assert load_config(None, {}, None) == MemoryConfig()


def test_process_environment_counts_when_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEUROGATED_MAX_HOPS", "6")
    assert load_config() == MemoryConfig(MAX_HOPS=6)
    assert load_config(environ={}) == MemoryConfig()


def test_memory_without_settings_takes_those_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEUROGATED_EMBEDDING_NAME", "hash")
    monkeypatch.setenv("NEUROGATED_SAVE_DIR", str(tmp_path / "here"))
    with NeuroGraphMemory() as memory:
        assert memory.config == MemoryConfig(embedding_name="hash", save_dir=str(tmp_path / "here"))
    assert (tmp_path / "here" / "memory").is_dir()


@pytest.mark.parametrize(("name", "text"), [("s.yaml", ""), ("s.yaml", "# nothing\n"), ("s.json", "null")])
def test_empty_settings_file_changes_nothing(tmp_path: Path, name: str, text: str) -> None:
    assert load_config(_written(tmp_path, name, text), {}) == MemoryConfig()


def test_number_that_yaml_takes_for_text_is_still_read_as_a_number(tmp_path: Path) -> None:
    """YAML 1.1 reads `1e-3` as text, because it has no dot."""
    assert load_config(_written(tmp_path, "s.yaml", "MIN_EDGE_WEIGHT: 1e-3\n"), {}).MIN_EDGE_WEIGHT == 0.001


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.yaml", "TOP_K_ANCHORS: [1\n"),
        ("s.yaml", "\tTOP_K_ANCHORS: 1\n"),
        ("s.yaml", "TOP_K_ANCHORS: 2020-13-45\n"),
        ("s.json", "{TOP_K_ANCHORS: 1}"),
        ("s.json", ""),
    ],
    ids=["open bracket", "tab", "no such date", "yaml in json", "empty json"],
)
def test_broken_settings_file_is_named(tmp_path: Path, name: str, text: str) -> None:
    path = _written(tmp_path, name, text)
    with pytest.raises(ConfigError) as caught:
        load_config(path, {})
    assert f"settings file {path} cannot be read" in str(caught.value)


def test_settings_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_bytes(b"llm_name: \xff\n")
    with pytest.raises(ConfigError, match=r"s\.yaml cannot be read"):
        load_config(path, {})


def test_missing_settings_file_and_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml cannot be read"):
        load_config(tmp_path / "none.yaml", {})
    with pytest.raises(ConfigError, match=f"{tmp_path.name} cannot be read"):
        load_config(tmp_path, {})


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [("s.yaml", "- MAX_HOPS\n", "list"), ("s.yaml", "MAX_HOPS\n", "str"), ("s.json", "7", "int")],
)
def test_settings_file_must_hold_names_and_values(tmp_path: Path, name: str, text: str, kind: str) -> None:
    path = _written(tmp_path, name, text)
    with pytest.raises(ConfigError) as caught:
        load_config(path, {})
    assert str(caught.value) == f"settings file {path} holds a {kind}, but must hold names and values"


@pytest.mark.parametrize("text", ["MAX_HOP: 1\n", "7: 1\n"])
def test_unknown_name_in_a_settings_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="unknown setting"):
        load_config(_written(tmp_path, "s.yaml", text), {})


# The built parts


def test_sqlite_memory_lies_in_the_save_dir(config: MemoryConfig, clock: ManualClock) -> None:
    parts = build(config, clock)
    try:
        assert isinstance(parts.store, SqliteStore)
        assert parts.clock is clock
        assert (Path(config.save_dir) / "memory" / "memory.db").is_file()
    finally:
        parts.store.close()
        parts.embedder.close()


def test_memory_storage_writes_nothing(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config.replace(storage="memory")) as memory:
        assert type(memory.store) is GraphStore
        assert isinstance(memory.store, SupportsNamespaces)
        memory.add_document("Only in memory.")
        assert memory.retrieve("memory") == ["Only in memory."]
    assert not Path(config.save_dir).exists()


def test_a_memory_built_with_sqlite_is_restored(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add_document("Kept on disk.")
    with NeuroGraphMemory(config) as memory:
        assert memory.retrieve("disk") == ["Kept on disk."]


def test_force_index_from_scratch_forgets_the_graph(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add_document("To be forgotten.")
    with NeuroGraphMemory(config.replace(force_index_from_scratch=True)) as memory:
        assert list(memory.store.all_nodes()) == []


# After an error


def test_memory_of_another_embedder_is_refused_and_both_are_named(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add_document("Embedded by words.")
    other = config.replace(embedding_name="all-MiniLM-L6-v2")
    with pytest.raises(EmbedderMismatchError) as caught:
        NeuroGraphMemory(other)
    assert "hash" in str(caught.value)
    assert "all-MiniLM-L6-v2" in str(caught.value)


def test_memory_opens_again_after_a_mismatch(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add_document("Embedded by words.")
    with pytest.raises(EmbedderMismatchError):
        NeuroGraphMemory(config.replace(embedding_name="all-MiniLM-L6-v2"))
    with NeuroGraphMemory(config) as memory:
        assert memory.retrieve("words") == ["Embedded by words."]


def test_another_embedder_may_take_over_a_memory_from_scratch(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add_document("Embedded by words.")
    parts = build(config.replace(embedding_name="all-MiniLM-L6-v2", force_index_from_scratch=True))
    try:
        assert "all-MiniLM-L6-v2" in parts.embedder.name
        assert list(parts.store.all_nodes()) == []
    finally:
        parts.store.close()
        parts.embedder.close()


def test_open_memory_cannot_be_dropped(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config), pytest.raises(MemoryLockedError):
        NeuroGraphMemory(config.replace(force_index_from_scratch=True))
    with NeuroGraphMemory(config) as memory:
        assert not memory.store.closed


def test_unknown_storage_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="storage is 'redis'"):
        load_config(environ={}, overrides={"storage": "redis", "save_dir": str(tmp_path / "out")})
    assert not (tmp_path / "out").exists()
