"""Settings: defaults of the specification, refusals, text, environment, presets."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from neurogated import MemoryConfig
from neurogated.config.groups import RetrievalSettings
from neurogated.config.memory_config import PRESETS
from neurogated.config.setting import REMOVED, SUCCEEDED, Setting, settings_of, value_of
from neurogated.errors import ConfigError
from neurogated.session.compose import load_config

# Settings: defaults of the specification, refusals, text, environment


SETTINGS = list(settings_of(MemoryConfig))
NAMES = [found.name for found in SETTINGS]
BOUNDS = [
    (found.name, found.kinds[0], found.spec.metadata[bound], step)
    for found in SETTINGS
    for bound, step in (("low", -1), ("high", 1))
    if found.kinds in {(int,), (float,)} and math.isfinite(found.spec.metadata[bound])
]


# Defaults


def test_default_embedder_is_the_bundled_one_and_storage_is_durable() -> None:
    assert MemoryConfig().embedding_name == "all-MiniLM-L6-v2"
    assert MemoryConfig().storage == "sqlite"


@pytest.mark.parametrize("found", SETTINGS, ids=NAMES)
def test_every_setting_has_help_that_no_other_setting_has(found: Setting) -> None:
    text = found.spec.metadata["help"]
    assert text.strip() == text
    assert len(text.split()) >= 3
    assert [other.name for other in SETTINGS if other.spec.metadata["help"] == text] == [found.name]


# Refusals


@pytest.mark.parametrize(("name", "kind", "bound", "step"), BOUNDS)
def test_a_number_is_taken_from_a_text_up_to_its_bounds_and_not_beyond(
    name: str, kind: type, bound: float, step: int
) -> None:
    read = value_of(MemoryConfig.from_mapping({name: str(kind(bound))}), name)
    assert (read, type(read)) == (bound, kind)
    for beyond in (kind(bound) + step, kind(bound) + step * 10**6, str(kind(bound) + step)):
        with pytest.raises(ConfigError, match=name):
            MemoryConfig.from_mapping({name: beyond})


@pytest.mark.parametrize(
    ("name", "value", "choices"),
    [("ACTIVATION", "magic", "gated, classic"), ("metabolism.importance", "all", "offline, model, equal")],
)
def test_wrong_choice_names_field_value_and_choices(name: str, value: str, choices: str) -> None:
    with pytest.raises(ConfigError) as caught:
        MemoryConfig.from_mapping({name: value})
    assert str(caught.value) == f"{name} is {value!r}, but must be one of {choices}"


# Unknown names


@pytest.mark.parametrize("name", NAMES)
def test_unknown_name_offers_the_nearest(name: str) -> None:
    typo = name[:-1]
    with pytest.raises(ConfigError) as caught:
        MemoryConfig.from_mapping({typo: 1})
    assert str(caught.value) == f"unknown setting {typo!r}; did you mean {name!r}?"


def test_a_setting_that_is_gone_is_left_out_with_a_warning_that_tells_what_holds_now() -> None:
    gone = r"'retrieval\.canvas_weight' is gone and left out: .* memory\.energy\.canvas"
    for values in ({"retrieval.canvas_weight": 0.1}, {"RETRIEVAL.CANVAS_WEIGHT": "0.1"}):
        with pytest.warns(FutureWarning, match=gone):
            assert MemoryConfig.from_mapping(values) == MemoryConfig()
    with pytest.warns(FutureWarning, match=gone):
        assert MemoryConfig().replace(retrieval={"canvas_weight": 0.1}) == MemoryConfig()
    with pytest.warns(FutureWarning, match=gone):
        assert MemoryConfig(retrieval={"canvas_weight": 0.1}) == MemoryConfig()  # type: ignore[arg-type]


def test_a_group_of_which_all_settings_are_gone_is_left_out_and_one_that_never_was_is_not() -> None:
    with pytest.warns(FutureWarning, match="exact_below"):
        assert MemoryConfig.from_mapping({"vectors": {"exact_below": 3}}) == MemoryConfig()
    with pytest.raises(ConfigError, match="'vektors'"):
        MemoryConfig.from_mapping({"vektors": {"exact_below": 3}})


def test_a_setting_that_another_one_succeeds_is_refused_and_not_left_out() -> None:
    with pytest.raises(ConfigError, match=r"metabolism\.knowledge='claims"):
        MemoryConfig(metabolism={"conflict_uncertain": 0})  # type: ignore[arg-type]


def test_a_text_of_several_numbers_or_prompts_is_read_or_refused() -> None:
    config = MemoryConfig.from_mapping(
        {"metabolism.half_lives": "7, fact=30", "embedding.prompts": "query: |passage: ", "retrieval.kernels": "model"}
    )
    assert config.metabolism.half_life_of_kinds == {"": 7.0, "fact": 30.0}
    assert MemoryConfig().replace(metabolism={"half_lives": "turn=1"}).metabolism.half_life_of_kinds[""] == 180.0
    assert (config.embedding.query_prompt, config.embedding.document_prompt) == ("query: ", "passage: ")
    assert config.retrieval.asks_model
    for name, text in (("metabolism.half_lives", "=7"), ("metabolism.half_lives", "fact"), ("embedding.prompts", "a:")):
        with pytest.raises(ConfigError, match=name):
            MemoryConfig.from_mapping({name: text})


@pytest.mark.parametrize("name", SUCCEEDED)
def test_a_setting_that_changed_what_is_chosen_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name}' is gone"):
        MemoryConfig.from_mapping({name: "1"})


@pytest.mark.parametrize("name", NAMES)
def test_no_setting_is_named_among_those_that_are_gone(name: str) -> None:
    assert name.lower() not in {**REMOVED, **SUCCEEDED}


def test_a_changed_group_keeps_its_other_settings() -> None:
    config = MemoryConfig(retrieval=RetrievalSettings(energy_weight=0.7))
    changed = config.replace(retrieval={"keyword_weight": 0.5})
    assert (changed.retrieval.energy_weight, changed.retrieval.keyword_weight) == (0.7, 0.5)
    assert config.replace(**{"retrieval.keyword_weight": 0.5}) == changed


# Environment


@pytest.mark.parametrize(
    ("variable", "told"),
    [
        ("NEUROGATED_EMBEDING_NAME", "did you mean 'embedding_name'"),
        ("NEUROGATED_XYZ", "`neurogated settings` lists"),
        ("NEUROGATED_MAX_HOPS", "MAX_HOPS is 'hash', but must be int"),
    ],
)
def test_a_wrong_variable_is_named_with_what_is_known(variable: str, told: str) -> None:
    with pytest.raises(ConfigError, match=f"^the environment variable {variable}: .*{told}"):
        load_config(environ={variable: "hash", "NEUROGATED_TOP_K_ANCHORS": "9"}, overrides={"storage": "memory"})


def test_a_fault_of_another_source_does_not_name_a_variable() -> None:
    with pytest.raises(ConfigError, match=r"^MAX_HOPS is -1"):
        load_config(environ={"NEUROGATED_TOP_K_ANCHORS": "9"}, overrides={"MAX_HOPS": -1})


@pytest.mark.parametrize("given", ["ana:cret@host/db", "ana:c%40cret@host/db", "host/db?password=cret&user=ana"])
def test_the_password_of_a_database_is_not_shown(given: str) -> None:
    config = MemoryConfig(storage=f"postgresql://{given}").replace(metabolism={"facts_url": f"postgresql://{given}"})
    for text in (repr(config), str(config), config.place):
        assert "cret" not in text
        assert "ana" in text


# Presets are named sets of existing settings


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
