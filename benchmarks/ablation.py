"""Recall on a data set with the full configuration, and with each part switched off in turn.

    python -m benchmarks.ablation sample
    python -m benchmarks.ablation locomo_conv0-4 --folder DATA --format locomo --variants no_activation uniform_kernel

The table has recall in percent, and in brackets points against the full configuration with the 95 % interval of a
paired bootstrap over questions; bold where it excludes 0. The memory is frozen while it is measured.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.arguments import chosen, dataset_parser
from neurogated import EdgeType, MemoryConfig, NeuroGraphMemory
from neurogated.evaluation.datasets import Dataset
from neurogated.evaluation.gold import PERCENT, paired_bootstrap, recall_at
from neurogated.evaluation.runner import index, rank
from neurogated.retrieval.formula import FORMULA, Formula
from neurogated.session.compose import build

CUTOFFS = (2, 5, 10, 20)
_HYBRID = replace(FORMULA.without_turns, subject_weight=0.0, tag_weight=0.0)
FORMULAS = {
    "no_gate": Formula(gate_exponent=0.0),
    "no_damping": Formula(damp_hubs=False),
    "back_again": Formula(never_back=False),
    "same_keywords_everywhere": Formula(keywords_for_like_vectors=False),
    "no_subject": Formula(subject_weight=0.0),
    "full_trust": Formula(trust_floor=1.0),
    "first_place_open": Formula(keep_best_first=False),
    "no_tags": Formula(tag_weight=0.0),
    "no_time_spans": Formula(time_span_weight=0.0),
    "no_places": Formula(place_weight=0.0),
    "no_sentiments": Formula(sentiment_weight=0.0),
    "no_causes": Formula(cause_weight=0.0),
    "no_neighbours": Formula(neighbour_weight=0.0),
    "no_answers": Formula(answer_weight=0.0),
    "no_length": Formula(length_cost=0.0),
    "no_generic": Formula(generic_cost=0.0),
    "no_own_words": Formula(own_words_weight=0.0),
    "context_for_notes": Formula(notes_need_no_context=False),
    "hybrid": _HYBRID,
    "cosine": _HYBRID,
    **{
        f"closed_{kind.name.lower()}": Formula(closed_edge_types=FORMULA.closed_edge_types | {kind})
        for kind in (EdgeType.SEQ, EdgeType.SIM, EdgeType.TERM, EdgeType.MENTION, EdgeType.CAUSE)
    },
}
"""The formula of each variant that changes it."""
SETTINGS: dict[str, dict[str, Any]] = {
    "full": {},
    "no_activation": {"ACTIVATION_WEIGHT": 0},
    "uniform_kernel": {"retrieval.kernels": "uniform"},
    "classic": {"ACTIVATION": "classic"},
    "one_hop": {"MAX_HOPS": 1},
    "no_keywords": {"retrieval.keyword_weight": 0},
    "hybrid": {"ACTIVATION_WEIGHT": 0},
    "cosine": {"ACTIVATION_WEIGHT": 0, "retrieval.keyword_weight": 0},
    "energy_alone": {"SIMILARITY_WEIGHT": 0},
}
"""The settings that a variant changes."""
VARIANTS = list(dict.fromkeys((*SETTINGS, *FORMULAS)))
INDEXED_ANEW = {"no_labels"}
"""Variants whose graph differs; they index the data set into a memory of their own."""


def recalls(dataset: Dataset, config: MemoryConfig, formula: Formula = FORMULA) -> NDArray[np.float64]:
    """Return (questions, cutoffs) recall in percent over the questions with gold passages."""
    with NeuroGraphMemory(config, parts=replace(build(config), formula=formula)) as memory:
        memories = index(dataset, memory)
        rows = []
        for one, part in zip(memories, dataset.collections, strict=True):
            one.freeze(lasting=False)
            for question in part.questions:
                if question.gold:
                    ranked, _ = rank(one, question.text)
                    rows.append([PERCENT * recall_at(ranked, question.gold, k) for k in CUTOFFS])
    return np.array(rows)


def main() -> None:
    """Print the table of the data set and variants of the command line."""
    parser = dataset_parser(__doc__)
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=VARIANTS)
    arguments = parser.parse_args()
    dataset, config = chosen(arguments)
    full = recalls(dataset, config)
    print(f"| {len(full)} questions | " + " | ".join(f"recall@{k}" for k in CUTOFFS) + " |")
    print("|---" * (1 + len(CUTOFFS)) + "|")
    print("| full | " + " | ".join(f"{mean:.1f}" for mean in full.mean(axis=0)) + " |")
    for name in arguments.variants:
        if name == "full":
            continue
        changed = config.replace(**SETTINGS.get(name, {}))
        if name in INDEXED_ANEW:
            changed = changed.replace(storage="memory")
        measured = recalls(dataset, changed, FORMULAS.get(name, FORMULA))
        cells = (
            f"{measured[:, column].mean():.1f} ({paired_bootstrap(measured[:, column], full[:, column])})"
            for column in range(len(CUTOFFS))
        )
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
