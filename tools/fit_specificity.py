"""Fit the coefficients by which the judge of pairs tells a more detailed value from another value.

    python tools/fit_specificity.py vault_train.jsonl

It reads pairs of values from vault-bench and from `tools/value_pairs.tsv`, and prints how many pairs it gets right when
each domain is held out in turn.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from neurogated.compose import build_text_embedder, load_config
from neurogated.knowledge.meanings import Meanings
from neurogated.knowledge.specificity import FEATURES, are_apart, certain, features

FOLDER = Path(__file__).parent
TARGET = FOLDER.parent / "src" / "neurogated" / "conflict" / "specificity.json"
FREEDOM = 1.0
COUNTED = 3  # copies of each detailed pair, since they are few
Row = tuple[str, str, str, str]


def rows(vault: Path) -> list[Row]:
    """Return domain, label and two values of each pair."""
    found: set[Row] = set()
    for line in vault.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        old, new = pair["existing"][0], pair["new"]
        relation, domain = pair["expected_relation"], pair["domain"]
        values = old["object"], new["object"]
        if relation == "REFINEMENT" and not values[0].startswith("not "):
            found.add((domain, "detail", *values))
        elif relation not in {"REFINEMENT", "DUPLICATE"} and old["predicate"] == new["predicate"] != "is":
            found |= {(domain, "other", *values), (domain, "other", *values[::-1])}
    own = (FOLDER / "value_pairs.tsv").read_text(encoding="utf-8").splitlines()
    for n, line in enumerate(own):
        label, first, second = line.split("\t")
        found.add((f"own {n % 4}", label, first, second))
        found.add((f"own {n % 4}", "other", second, first)) if label == "other" else None
    return sorted(found)


def fit(table: NDArray[np.float64], labels: list[str]) -> tuple[NDArray[np.float64], float]:
    """Return weights and bias for "detail"."""
    is_detail = np.array([label == "detail" for label in labels])
    model = LogisticRegression(C=FREEDOM, max_iter=5000, tol=1e-6)
    model.fit(table, is_detail, sample_weight=np.where(is_detail, COUNTED, 1))
    return model.coef_[0], float(model.intercept_[0])


def is_detail(row: Row, score: float, meanings: Meanings) -> bool:
    """Return whether the second value of a row is judged to say more."""
    return certain(*row[2:]) or (score > 0 and not are_apart(*row[2:], meanings))


def main() -> None:
    """Cross-validate by domain, fit on all pairs, and write the coefficients."""
    parser = argparse.ArgumentParser(description="Fit the coefficients of specificity.")
    parser.add_argument("vault", type=Path, help="vault_train.jsonl")
    pairs = rows(parser.parse_args().vault)
    meanings = Meanings(build_text_embedder(load_config()))
    table = np.array([features(first, second, meanings) for _, _, first, second in pairs])
    labels = [label for _, label, _, _ in pairs]
    wrong = []
    for domain in sorted({row[0] for row in pairs}):
        held = np.array([row[0] == domain for row in pairs])
        weights, bias = fit(table[~held], [label for label, out in zip(labels, held, strict=True) if not out])
        wrong += [
            pairs[n]
            for n in np.flatnonzero(held)
            if is_detail(pairs[n], table[n] @ weights + bias, meanings) != (labels[n] == "detail")
        ]
    for row in wrong:
        print("wrong:", row)
    print(f"{len(pairs) - len(wrong)} of {len(pairs)} right, each domain held out in turn")
    weights, bias = fit(table, labels)
    written = {"weights": dict(zip(FEATURES, weights.round(4).tolist(), strict=True)), "bias": round(bias, 4)}
    TARGET.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    print(written)


if __name__ == "__main__":
    main()
