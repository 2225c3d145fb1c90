"""Ablation: measure a data set with the full configuration, and with each part switched off in turn."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.extras import import_extra
from neurogated.errors import ConfigError, DatasetError
from neurogated.evaluation.experiment import Asked, KnownVectors, frozen_memories, questions_with_gold, rank_all
from neurogated.evaluation.metrics import COMPARED_CUTOFFS, recall_matrix
from neurogated.evaluation.model import Dataset
from neurogated.evaluation.records import new_folder, write_json, write_rankings
from neurogated.evaluation.uncertainty import LEVEL, ROUNDS, paired_bootstrap
from neurogated.memory import show_progress
from neurogated.retrieval.turns import TURN_WEIGHTS

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = import_extra("pandas", "bench")

__all__ = [
    "ALL_QUESTIONS",
    "CONTRASTS",
    "FULL",
    "VARIANTS",
    "AblationReport",
    "Contrast",
    "Variant",
    "ablate",
    "contrast_table",
    "select_variants",
]

_CLOSED = "retrieval.closed_edge_types"

ALL_QUESTIONS = "all"
"""Kind of the rows over all questions."""


@dataclass(frozen=True, slots=True)
class Variant:
    """The configuration with one part switched off."""

    name: str
    """Part of file names, and a value of `--variants`."""
    label: str
    """Its name in tables and charts."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """The settings of `MemoryConfig` that differ."""
    reindex: bool = False
    """Whether the graph differs too. Then the data set is re-indexed into a graph in memory, beside the memory."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "overrides", MappingProxyType(dict(self.overrides)))

    def config(self, base: MemoryConfig) -> MemoryConfig:
        """Return `base` with the overrides.

        Raises:
            ConfigError: a setting is unknown or out of range; the message names the variant.
        """
        try:
            return base.replace(**self.overrides)
        except ConfigError as error:
            raise ConfigError(f"variant {self.name!r}: {error}") from None


FULL = Variant("full", "full configuration")

_NO_TURNS = {f"retrieval.{name}": 0 for name in TURN_WEIGHTS}

VARIANTS: Sequence[Variant] = (
    Variant("no_activation", "no activation, similarity alone", {"ACTIVATION_WEIGHT": 0}),
    Variant("uniform_kernel", "uniform kernel", {"retrieval.switches.uniform_kernel": True}),
    Variant("classic", "classic activation", {"ACTIVATION": "classic"}),
    Variant("one_hop", "one hop", {"MAX_HOPS": 1}),
    Variant("no_gate", "hops not gated", {"retrieval.gate_exponent": 0, "retrieval.selectivity": 0}),
    Variant("no_damping", "hubs not damped", {"retrieval.switches.damp_hubs": False}),
    Variant("move_again", "activation moves more than once", {"retrieval.switches.move_once": False}),
    Variant("back_again", "activation returns over its edge", {"retrieval.switches.never_back": False}),
    Variant("no_keywords", "keywords not matched", {"retrieval.keyword_weight": 0}),
    Variant("no_subject", "subjects of memories not matched", {"retrieval.subject_weight": 0}),
    Variant("full_trust", "the graph trusted alike on every question", {"retrieval.trust_floor": 1}),
    Variant(
        "first_place_open", "activation may lift above the best match", {"retrieval.switches.keep_best_first": False}
    ),
    Variant("not_named_first", "activation not split by named subjects", {"retrieval.switches.named_first": False}),
    Variant("no_marks", "tags such as times not matched", {"retrieval.tag_weight": 0}),
    Variant("no_time_spans", "time spans such as last week not matched", {"retrieval.time_span_weight": 0}),
    Variant("no_places", "places not matched", {"retrieval.place_weight": 0}),
    Variant("no_sentiments", "feelings not matched", {"retrieval.sentiment_weight": 0}),
    Variant("no_causes", "causes and effects not matched", {"retrieval.cause_weight": 0}),
    Variant("no_neighbours", "turns without their neighbours", {"retrieval.neighbour_weight": 0}),
    Variant("no_best_neighbour", "the mean of the neighbours alone", {"retrieval.neighbour_best": 0}),
    Variant("no_answers", "answers apart from questions", {"retrieval.answer_weight": 0, "retrieval.question_cost": 0}),
    Variant("no_length", "message length not counted", {"retrieval.length_cost": 0}),
    Variant("no_length_decay", "long messages gain as much from neighbours", {"retrieval.length_decay": 0}),
    Variant("no_generic", "generic turns not lowered", {"retrieval.generic_cost": 0}),
    Variant("no_place", "place in a message not counted", {"retrieval.place_cost": 0}),
    Variant("no_own_words", "no preference for the user's own words", {"retrieval.own_words_weight": 0}),
    Variant("no_overviews", "overview questions as other questions", {"retrieval.switches.long_for_overviews": False}),
    Variant(
        "no_answers_asked_for",
        "questions about the assistant's answers as other questions",
        {"retrieval.switches.long_for_answers": False},
    ),
    Variant("no_learned_names", "speaker names not learned", {"retrieval.switches.learn_names": False}),
    Variant("no_labels", "speakers before a colon not found", {"indexing.find_speakers": False}, reindex=True),
    Variant(
        "hybrid",
        "plain hybrid search: cosine and keywords",
        {"ACTIVATION_WEIGHT": 0, "retrieval.subject_weight": 0, "retrieval.tag_weight": 0, **_NO_TURNS},
    ),
    Variant(
        "cosine",
        "plain vector search: cosine alone",
        {
            "ACTIVATION_WEIGHT": 0,
            "retrieval.keyword_weight": 0,
            "retrieval.subject_weight": 0,
            "retrieval.tag_weight": 0,
            **_NO_TURNS,
        },
    ),
    Variant("energy_alone", "similarity not kept in the score", {"SIMILARITY_WEIGHT": 0}),
    *(
        Variant(f"closed_{name.lower()}", f"{name} edges closed", {_CLOSED: f"SAME_AS,ECHO,{name}"})
        for name in ("SEQ", "SIM", "TERM", "MENTION", "CAUSE")
    ),
    Variant("no_found_titles", "titles not found in texts without one", {"indexing.find_titles": False}, reindex=True),
)
"""The variants, in the order of the table."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """A comparison by kind of question: the full configuration minus the variant `without` a part."""

    without: str
    """Name of the variant."""
    title: str


CONTRASTS: Sequence[Contrast] = (
    Contrast("uniform_kernel", "The question's own kernel minus a uniform kernel"),
    Contrast("no_activation", "With activation minus without"),
)


@dataclass(frozen=True, slots=True)
class AblationReport:
    """The results of an ablation, and their folder."""

    folder: Path
    dataset: str
    questions: int
    variants: Sequence[Variant]
    """The full configuration first."""
    seconds: Mapping[str, float]
    """Seconds of each variant, indexing included."""
    rows: pd.DataFrame
    """A row per variant, kind of question and cutoff: `variant`, `label`, `kind`, `questions`, `k`, `recall` in
    percent; `difference`, `low`, `high`: its recall minus that of the full configuration with interval, in points."""

    def figures(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        described = [
            {
                "name": variant.name,
                "label": variant.label,
                "overrides": dict(variant.overrides),
                "reindex": variant.reindex,
                "seconds": self.seconds[variant.name],
            }
            for variant in self.variants
        ]
        return {
            "dataset": self.dataset,
            "questions": self.questions,
            "interval": {"method": "paired bootstrap over questions", "level": LEVEL, "rounds": ROUNDS},
            "variants": described,
            "rows": self.rows.drop(columns="label").to_dict(orient="records"),
            "contrasts": [
                {
                    "title": contrast.title,
                    "without": contrast.without,
                    "rows": contrast_table(self.rows, contrast.without).to_dict(orient="records"),
                }
                for contrast in CONTRASTS
                if contrast.without in self.seconds
            ],
        }


def select_variants(names: Sequence[str], variants: Sequence[Variant] = VARIANTS) -> list[Variant]:
    """Return the variants of these names, in the order of `variants`.

    Raises:
        ConfigError: a name is unknown.
    """
    known = [variant.name for variant in variants]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigError(f"there is no variant {unknown[0]!r}; there are {', '.join(known)}")
    return [variant for variant in variants if variant.name in names]


def ablate(
    dataset: Dataset, config: MemoryConfig, *, variants: Sequence[Variant] = VARIANTS, progress: bool | None = None
) -> AblationReport:
    """Measure `dataset` with the full configuration and with each variant, and write the results.

    The data set is indexed if it is not yet. The memory is frozen while it is measured. A variant with `reindex` gets
    its own graph in memory. The folder is `<save_dir>/ablation-<UTC time>`.

    Args:
        dataset: documents and questions.
        config: the full configuration; `save_dir` is the memory's own folder.
        variants: the variants to compare.
        progress: show progress bars; None shows them if the output is a terminal.

    Raises:
        ConfigError: a variant's setting is unknown or out of range; nothing is measured.
        DatasetError: no question can be scored.
    """
    planned = [FULL, *variants]
    configs = [variant.config(config) for variant in planned]
    asked = questions_with_gold(dataset)
    if not asked:
        raise DatasetError(f"data set {dataset.name!r} has no question with gold passages, so nothing can be compared")
    golds = [one.question.gold for one in asked]
    known: KnownVectors = {}
    rankings: dict[str, list[list[Hashable]]] = {}
    seconds: dict[str, float] = {}
    # Only the full configuration may delete the memory and re-index.
    for place, variant in enumerate(show_progress(planned, "ablating", "variant", progress=progress)):
        begin = time.perf_counter()
        chosen = configs[place] if variant is FULL else configs[place].replace(force_index_from_scratch=False)
        opened = frozen_memories(
            dataset, chosen, known, indexed=variant is not FULL, reindex=variant.reindex, progress=False
        )
        with opened as (_, memories):
            rankings[variant.name] = rank_all(memories, asked)
        seconds[variant.name] = time.perf_counter() - begin
    recalls = {name: recall_matrix(ranked, golds, COMPARED_CUTOFFS) for name, ranked in rankings.items()}
    report = AblationReport(
        folder=new_folder(Path(config.save_dir), "ablation-"),
        dataset=dataset.name,
        questions=len(asked),
        variants=planned,
        seconds=seconds,
        rows=_rows(planned, recalls, [one.question.kind for one in asked]),
    )
    _write(report, config, rankings, asked)
    return report


def contrast_table(rows: pd.DataFrame, without: str) -> pd.DataFrame:
    """Return the gain of a part, by kind of question, in points with its interval; the variant `without` lacks it.

    A row per kind of question and cutoff: `kind`, `questions`, `k`, `with`, `without`, `difference`, `low`, `high`.
    """
    lacking = rows[rows["variant"] == without].reset_index(drop=True)
    return pd.DataFrame(
        {
            "kind": lacking["kind"],
            "questions": lacking["questions"],
            "k": lacking["k"],
            "with": lacking["recall"] - lacking["difference"],
            "without": lacking["recall"],
            # Swapping the sides mirrors the interval of a paired bootstrap; subtracting from 0 avoids -0.0.
            "difference": 0 - lacking["difference"],
            "low": 0 - lacking["high"],
            "high": 0 - lacking["low"],
        }
    )


def _rows(
    variants: Sequence[Variant], recalls: Mapping[str, NDArray[np.float64]], kinds: Sequence[str]
) -> pd.DataFrame:
    of_kind = {kind: np.array([one == kind for one in kinds]) for kind in sorted(set(kinds))}
    # With a single kind, its rows would repeat those of all questions.
    groups = {ALL_QUESTIONS: np.ones(len(kinds), dtype=bool), **(of_kind if len(of_kind) > 1 else {})}
    full, rows = recalls[FULL.name], []
    for variant in variants:
        for kind, chosen in groups.items():
            for column, k in enumerate(COMPARED_CUTOFFS):
                measured = recalls[variant.name][chosen, column]
                interval = paired_bootstrap(measured, full[chosen, column])
                rows.append(
                    {
                        "variant": variant.name,
                        "label": variant.label,
                        "kind": kind,
                        "questions": int(chosen.sum()),
                        "k": k,
                        "recall": float(measured.mean()),
                        "difference": interval.mean,
                        "low": interval.low,
                        "high": interval.high,
                    }
                )
    return pd.DataFrame(rows)


def _write(
    report: AblationReport, config: MemoryConfig, rankings: Mapping[str, list[list[Hashable]]], asked: Sequence[Asked]
) -> None:
    from neurogated.evaluation.charts import ablation_chart  # noqa: PLC0415 - plotting is imported where it is used

    for name, ranked in rankings.items():
        lines = ((one.question.id, names, None) for one, names in zip(asked, ranked, strict=True))
        write_rankings(report.folder / f"rankings-{name}.jsonl", lines)
    write_json(report.folder / "config.json", config.to_dict())
    write_json(report.folder / "ablation.json", report.figures())
    report.rows.to_csv(report.folder / "ablation.csv", index=False)
    over_all = report.rows[(report.rows["kind"] == ALL_QUESTIONS) & (report.rows["variant"] != FULL.name)]
    if not over_all.empty:
        title = f"Effect of switching parts off on {report.dataset} ({report.questions} questions)"
        ablation_chart(over_all, title, report.folder / "ablation")
