"""From settings to parts: sources of settings, the built parts, and the state after an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import ConfigError
from neurogated.llm.factory import llm_is_configured
from neurogated.session.compose import build, load_config

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


def test_memory_without_settings_takes_those_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEUROGATED_EMBEDDING_NAME", "hash")
    monkeypatch.setenv("NEUROGATED_SAVE_DIR", str(tmp_path / "here"))
    with NeuroGraphMemory() as memory:
        assert memory.config == MemoryConfig(embedding_name="hash", save_dir=str(tmp_path / "here"))
    assert (tmp_path / "here" / "memory").is_dir()


# After an error


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


@pytest.mark.parametrize(
    ("values", "use"),
    [
        ({"llm_name": "gpt-4o-mini"}, "auto"),
        ({"llm_name": "gpt-4o-mini", "llm": "off"}, "off"),
        ({"llm_name": "gpt-4o-mini", "llm": {"timeout": 5.0}}, "auto"),
        ({"llm_name": "gpt-4o-mini", "llm.use": "off"}, "off"),
        ({}, None),
    ],
)
def test_whoever_names_a_model_asks_for_it(values: dict[str, Any], use: str | None) -> None:
    config = load_config(environ={}, overrides=values)
    assert config.llm.use == use
    assert llm_is_configured(config, api_key="k") is (use == "auto")
    from_environment = {f"NEUROGATED_{name.upper()}": text for name, text in values.items() if isinstance(text, str)}
    if set(values) == {"llm_name"}:
        assert load_config(environ=from_environment).llm.use == use


def test_a_variable_is_not_blamed_for_a_flag_that_wins() -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(None, {"NEUROGATED_TEMPERATURE": "9"}, {"temperature": 9.0})
    assert "NEUROGATED" not in str(caught.value)
