"""Ablation: its figures match an independent computation from its rankings, and it leaves the memory alone."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory, compose
from neurogated.errors import ConfigError, DatasetError
from neurogated.evaluation.ablation import (
    CONTRASTS,
    FULL,
    VARIANTS,
    AblationReport,
    Variant,
    ablate,
    select_variants,
)
from neurogated.evaluation.datasets import Collection, Dataset, load_dataset
from neurogated.evaluation.runner import config_for, index, run

ROOT = Path(__file__).parents[2]
CUTOFFS = (2, 5, 10, 20)
GraphOf = Callable[..., list[tuple[Any, ...]]]
WITHOUT_ACTIVATION = Variant("no_activation", "no activation", {"ACTIVATION_WEIGHT": 0})


def _rankings(report: AblationReport, name: str) -> dict[Any, list[Any]]:
    lines = (report.folder / f"rankings-{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["id"]: row["ranked"] for row in map(json.loads, lines)}


def _figures(report: AblationReport) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((report.folder / "ablation.json").read_text(encoding="utf-8"))
    return values


def _recall(ranked: list[Any], gold: frozenset[Any], k: int) -> float:
    return 100 * sum(item in ranked[:k] for item in gold) / len(gold)


@pytest.fixture(scope="module")
def few() -> Dataset:
    """Return the sample with every fourth of its questions."""
    whole = load_dataset("sample", ROOT / "dataset", "hipporag")
    parts = tuple(replace(part, questions=part.questions[::4]) for part in whole.collections)
    return replace(whole, collections=parts)


@pytest.fixture(scope="module")
def few_config(tmp_path_factory: pytest.TempPathFactory) -> MemoryConfig:
    """Return settings of the sample's memory, as `config`."""
    return MemoryConfig(save_dir=str(tmp_path_factory.mktemp("ablation") / "out"), embedding_name="hash")


@pytest.fixture(scope="module")
def full_report(few: Dataset, few_config: MemoryConfig) -> AblationReport:
    """Return a report of all variants. No test changes it."""
    return ablate(few, config_for(few, few_config), progress=False)


def test_every_figure_agrees_with_the_rankings_that_were_written(few: Dataset, full_report: AblationReport) -> None:
    sample, report = few, full_report
    questions = [question for part in sample.collections for question in part.questions if question.gold]
    rankings = {variant.name: _rankings(report, variant.name) for variant in (FULL, *VARIANTS)}
    kinds = ["all", *sorted({question.kind for question in questions})]
    rows = {(row["variant"], row["kind"], row["k"]): row for row in _figures(report)["rows"]}
    assert set(rows) == {(name, kind, k) for name in rankings for kind in kinds for k in CUTOFFS}
    for (name, kind, k), row in rows.items():
        chosen = [question for question in questions if kind in ("all", question.kind)]
        own = [_recall(rankings[name][question.id], question.gold, k) for question in chosen]
        full = [_recall(rankings["full"][question.id], question.gold, k) for question in chosen]
        assert row["questions"] == len(chosen)
        assert row["recall"] == pytest.approx(fmean(own))
        assert row["difference"] == pytest.approx(fmean(own) - fmean(full))
        assert row["low"] <= row["difference"] <= row["high"]
        if own == full:
            assert (row["low"], row["high"]) == (0, 0)
    assert any(row["difference"] for row in rows.values())


def test_table_of_values_holds_the_same_rows_as_the_json(sample: Dataset, sample_config: MemoryConfig) -> None:
    report = ablate(sample, sample_config, variants=[WITHOUT_ACTIVATION], progress=False)
    with (report.folder / "ablation.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["label"] for row in rows} == {"full configuration", "no activation"}
    for row, other in zip(rows, _figures(report)["rows"], strict=True):
        assert (row["variant"], row["kind"], int(row["k"])) == (other["variant"], other["kind"], other["k"])
        for name in ("recall", "difference", "low", "high"):
            assert float(row[name]) == pytest.approx(other[name])


def test_contrast_is_the_difference_turned_over(full_report: AblationReport) -> None:
    figures = _figures(full_report)
    assert [contrast["without"] for contrast in figures["contrasts"]] == [contrast.without for contrast in CONTRASTS]
    for contrast in figures["contrasts"]:
        measured = [row for row in figures["rows"] if row["variant"] == contrast["without"]]
        full = [row for row in figures["rows"] if row["variant"] == "full"]
        for row, own, whole in zip(contrast["rows"], measured, full, strict=True):
            assert (row["kind"], row["k"], row["questions"]) == (own["kind"], own["k"], own["questions"])
            assert (row["with"], row["without"]) == pytest.approx((whole["recall"], own["recall"]))
            assert (row["difference"], row["low"], row["high"]) == (-own["difference"], -own["high"], -own["low"])


def test_full_configuration_ranks_as_a_run_does(sample: Dataset, config: MemoryConfig) -> None:
    lines = (run(sample, config).folder / "rankings.jsonl").read_text(encoding="utf-8").splitlines()
    report = ablate(sample, config_for(sample, config), variants=[], progress=False)
    assert _rankings(report, "full") == {row["id"]: row["ranked"] for row in map(json.loads, lines)}
    assert not list(report.folder.glob("ablation.svg"))


def test_each_variant_ranks_as_a_run_with_its_settings(
    few: Dataset, few_config: MemoryConfig, full_report: AblationReport
) -> None:
    for variant in VARIANTS:
        alone = variant.config(few_config).replace(save_dir=f"{few_config.save_dir}-{variant.name}")
        lines = (run(few, alone).folder / "rankings.jsonl").read_text(encoding="utf-8").splitlines()
        expected = {row["id"]: row["ranked"] for row in map(json.loads, lines)}
        assert _rankings(full_report, variant.name) == expected, variant.name


def test_memory_and_its_learned_weights_do_not_change(talks: Dataset, config: MemoryConfig, graph_of: GraphOf) -> None:
    own = config_for(talks, config).replace(learning={"access_flush_seconds": 0.0})
    with NeuroGraphMemory(own) as memory:
        first, _ = index(talks, memory)
        first.feedback([node.id for node in first.store.all_nodes()][::2])
    before = graph_of(own, "default", "one", "two")
    ablate(talks, own, progress=False)
    assert graph_of(own, "default", "one", "two") == before


def test_only_the_first_variant_may_forget_everything(
    talks: Dataset, config: MemoryConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    build = compose.build

    def noting(config: MemoryConfig) -> compose.Parts:
        seen.append(config.force_index_from_scratch)
        return build(config)

    monkeypatch.setattr(compose, "build", noting)
    ablate(talks, config_for(talks, config).replace(force_index_from_scratch=True), progress=False)
    assert seen == [True, *[False] * len(VARIANTS)]


def test_collections_are_asked_in_their_own_namespaces_in_either_storage(talks: Dataset, config: MemoryConfig) -> None:
    own = config_for(talks, config)
    durable = ablate(talks, own, progress=False)
    passing = ablate(talks, own.replace(storage="memory"), progress=False)
    for variant in (FULL, *VARIANTS):
        rankings = _rankings(durable, variant.name)
        assert list(rankings) == ["one:0", "one:1", "one:2", "one:3", "two:0", "two:1"]
        assert all(set(ranked) == {f"D1:{turn}" for turn in range(1, 6)} for ranked in rankings.values())
        assert rankings == _rankings(passing, variant.name)
    assert set(durable.rows["kind"]) == {"all", "category 1", "category 4"}


def test_folder_holds_all_that_is_promised(talks: Dataset, config: MemoryConfig) -> None:
    own = config_for(talks, config)
    report = ablate(talks, own, variants=[WITHOUT_ACTIVATION], progress=False)
    assert re.fullmatch(r"ablation-\d{8}T\d{6}Z(-\d+)?", report.folder.name)
    assert report.folder.parent == Path(own.save_dir)
    assert sorted(path.name for path in report.folder.iterdir()) == [
        "ablation.csv",
        "ablation.json",
        "ablation.png",
        "ablation.svg",
        "config.json",
        "rankings-full.jsonl",
        "rankings-no_activation.jsonl",
    ]
    figures = _figures(report)
    assert (figures["dataset"], figures["questions"]) == ("talks", 6)
    assert figures["variants"][1]["overrides"] == {"ACTIVATION_WEIGHT": 0}
    assert [contrast["without"] for contrast in figures["contrasts"]] == ["no_activation"]


# Variants


def test_variants_have_names_of_their_own_and_settings_there_are() -> None:
    names = [variant.name for variant in (FULL, *VARIANTS)]
    assert len(set(names)) == len(names)
    assert len({variant.label for variant in VARIANTS}) == len(VARIANTS)
    for variant in VARIANTS:
        assert re.fullmatch(r"[a-z0-9_]+", variant.name), "it is part of file names"
        assert variant.overrides
        assert variant.config(MemoryConfig()) != MemoryConfig(), f"{variant.name} switches nothing off"
    assert {contrast.without for contrast in CONTRASTS} <= set(names)


def test_wrong_setting_of_a_variant_is_told_before_anything_is_written(talks: Dataset, config: MemoryConfig) -> None:
    own = config_for(talks, config)
    with pytest.raises(ConfigError, match="variant 'odd': unknown setting 'MAX_HOP'"):
        ablate(talks, own, variants=[Variant("odd", "odd", {"MAX_HOP": 1})], progress=False)
    assert not Path(own.save_dir).exists()


def test_variants_are_selected_by_name_in_their_own_order() -> None:
    assert select_variants(["one_hop", "no_activation"]) == [
        variant for variant in VARIANTS if variant.name in {"one_hop", "no_activation"}
    ]
    with pytest.raises(ConfigError, match="no variant 'two_hops'; there are no_activation, "):
        select_variants(["one_hop", "two_hops"])


def test_data_set_without_gold_is_refused(config: MemoryConfig) -> None:
    with pytest.raises(DatasetError, match="no question with gold"):
        ablate(Dataset("empty", (Collection(None, (), ()),)), config, progress=False)


@pytest.mark.slow
def test_sample_with_the_bundled_model_is_measured_in_one_sitting(sample: Dataset, tmp_path: Path) -> None:
    own = config_for(sample, MemoryConfig(save_dir=str(tmp_path)))
    report = ablate(sample, own, progress=False)
    over_all = {(row["variant"], row["k"]): row for row in _figures(report)["rows"] if row["kind"] == "all"}
    assert over_all["full", 20]["recall"] > 80
    assert over_all["classic", 2]["difference"] < 0
