"""Recall on a data set with the full configuration, and with each part switched off in turn.

    python -m benchmarks.ablation sample
    python -m benchmarks.ablation locomo_conv0-4 --folder DATA --format locomo --variants no_activation uniform_kernel

The table has recall in percent, and in brackets points against the full configuration with the 95 % interval of a
paired bootstrap over questions; bold where it excludes 0. The memory is frozen while it is measured.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.arguments import chosen, dataset_parser
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.evaluation.datasets import Dataset
from neurogated.evaluation.gold import PERCENT, paired_bootstrap, recall_at
from neurogated.evaluation.runner import index, rank
from neurogated.retrieval.turns import TURN_WEIGHTS

CUTOFFS = (2, 5, 10, 20)
_NO_TURNS = {f"retrieval.{name}": 0 for name in TURN_WEIGHTS}
_HYBRID = {"ACTIVATION_WEIGHT": 0, "retrieval.subject_weight": 0, "retrieval.tag_weight": 0, **_NO_TURNS}
VARIANTS: dict[str, dict[str, Any]] = {
    "full": {},
    "no_activation": {"ACTIVATION_WEIGHT": 0},
    "uniform_kernel": {"retrieval.switches.uniform_kernel": True},
    "classic": {"ACTIVATION": "classic"},
    "one_hop": {"MAX_HOPS": 1},
    "no_gate": {"retrieval.gate_exponent": 0},
    "no_damping": {"retrieval.switches.damp_hubs": False},
    "back_again": {"retrieval.switches.never_back": False},
    "no_keywords": {"retrieval.keyword_weight": 0},
    "same_keywords_everywhere": {"retrieval.switches.keywords_for_like_vectors": False},
    "no_subject": {"retrieval.subject_weight": 0},
    "full_trust": {"retrieval.trust_floor": 1},
    "first_place_open": {"retrieval.switches.keep_best_first": False},
    "no_tags": {"retrieval.tag_weight": 0},
    "no_time_spans": {"retrieval.time_span_weight": 0},
    "no_places": {"retrieval.place_weight": 0},
    "no_sentiments": {"retrieval.sentiment_weight": 0},
    "no_causes": {"retrieval.cause_weight": 0},
    "no_neighbours": {"retrieval.neighbour_weight": 0},
    "no_answers": {"retrieval.answer_weight": 0},
    "no_length": {"retrieval.length_cost": 0},
    "no_generic": {"retrieval.generic_cost": 0},
    "no_own_words": {"retrieval.own_words_weight": 0},
    "context_for_notes": {"retrieval.switches.notes_need_no_context": False},
    "hybrid": _HYBRID,
    "cosine": {**_HYBRID, "retrieval.keyword_weight": 0},
    "energy_alone": {"SIMILARITY_WEIGHT": 0},
    **{
        f"closed_{name.lower()}": {"retrieval.closed_edge_types": f"SAME_AS,ECHO,{name}"}
        for name in ("SEQ", "SIM", "TERM", "MENTION", "CAUSE")
    },
    "no_found_titles": {"indexing.find_titles": False},
}
"""The settings that each variant changes."""
INDEXED_ANEW = {"no_labels", "no_found_titles"}
"""Variants whose graph differs; they index the data set into a memory of their own."""


def recalls(dataset: Dataset, config: MemoryConfig) -> NDArray[np.float64]:
    """Return (questions, cutoffs) recall in percent over the questions with gold passages."""
    with NeuroGraphMemory(config) as memory:
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
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    arguments = parser.parse_args()
    dataset, config = chosen(arguments)
    full = recalls(dataset, config)
    print(f"| {len(full)} questions | " + " | ".join(f"recall@{k}" for k in CUTOFFS) + " |")
    print("|---" * (1 + len(CUTOFFS)) + "|")
    print("| full | " + " | ".join(f"{mean:.1f}" for mean in full.mean(axis=0)) + " |")
    for name in arguments.variants:
        if name == "full":
            continue
        changed = config.replace(**VARIANTS[name])
        if name in INDEXED_ANEW:
            changed = changed.replace(storage="memory")
        measured = recalls(dataset, changed)
        cells = (
            f"{measured[:, column].mean():.1f} ({paired_bootstrap(measured[:, column], full[:, column])})"
            for column in range(len(CUTOFFS))
        )
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
