"""Presets are named sets of existing settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from neurogated import MemoryConfig
from neurogated.compose import load_config
from neurogated.config.memory_config import PRESETS
from neurogated.config.setting import value_of


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_sets_its_values_and_nothing_else(name: str) -> None:
    config = MemoryConfig.preset(name)
    assert {setting: value_of(config, setting) for setting in PRESETS[name]} == PRESETS[name]
    plain = {setting: value_of(MemoryConfig(), setting) for setting in PRESETS[name]}
    assert config.replace(**plain) == MemoryConfig()


def test_settings_beside_a_preset_change_it_wherever_they_come_from(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"preset": "manifest", "retrieval": {"energy_weight": 0.5}}), encoding="utf-8")
    config = load_config(file, {}, {"MAX_HOPS": "1"})
    assert (config.ENERGY_DECAY_RATE, config.retrieval.energy_weight, config.MAX_HOPS) == (0.85, 0.5, 1)
    assert config.retrieval.kernels == "uniform"
    assert load_config(None, {"NEUROGATED_PRESET": "classic"}).ACTIVATION == "classic"
    assert load_config(None, {"NEUROGATED_PRESET": "classic"}, {"preset": "biem"}).ACTIVATION == "gated"
