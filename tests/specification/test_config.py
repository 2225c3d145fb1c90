"""`MemoryConfig` as the specification writes it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from neurogated.config.memory_config import MemoryConfig

PARAMETERS = {
    "TOP_K_ANCHORS": 5,
    "TOP_N_RETRIEVAL": 3,
    "MAX_HOPS": 2,
    "ENERGY_DECAY_RATE": 0.5,
    "MAX_SIM_NEIGHBORS": 5,
    "HEBBIAN_LEARNING_RATE": 0.1,
    "TIME_DECAY_FACTOR": 0.99,
    "MIN_EDGE_WEIGHT": 0.1,
    "llm_name": "gpt-4o-mini",
    "llm_base_url": None,
    "temperature": 0.0,
    "max_new_tokens": 2048,
    "save_dir": "outputs",
    "force_index_from_scratch": False,
}


@pytest.mark.parametrize(("name", "value"), PARAMETERS.items())
def test_the_class_and_an_object_have_the_default(name: str, value: object) -> None:
    for default in (getattr(MemoryConfig, name), getattr(MemoryConfig(), name)):
        assert default == value
        assert type(default) is type(value)


def test_it_is_a_dataclass() -> None:
    assert dataclasses.is_dataclass(MemoryConfig)
    assert {spec.name for spec in dataclasses.fields(MemoryConfig)} >= PARAMETERS.keys()
    assert dataclasses.asdict(MemoryConfig())["MAX_HOPS"] == 2
    assert dataclasses.replace(MemoryConfig(), MAX_HOPS=3).MAX_HOPS == 3


def test_a_path_is_a_folder_too(tmp_path: Path) -> None:
    assert MemoryConfig(save_dir=tmp_path).save_dir == str(tmp_path)  # type: ignore[arg-type]
