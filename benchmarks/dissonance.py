"""Measure the judge of pairs: which conflicts it finds, how many other pairs it flags, and how long it takes.

    python -m benchmarks.dissonance --data FOLDER [--verbose]

The folder holds `sick_train.tsv`, `vault_train.jsonl` and `cdconv_dev.tsv`; sets that are not there are left out. The
pairs of `benchmarks/data` are always measured.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.vault_sentences import sentence
from neurogated.compose import build_text_embedder, load_config
from neurogated.core.judgements import Relation
from neurogated.knowledge import specificity
from neurogated.knowledge.judge import Content, PairJudge
from neurogated.knowledge.meanings import Meanings
from tools.fit_specificity import fit, rows

OWN = Path(__file__).parent / "data"
KINDS = {
    "CONTRADICTION": "contradiction",
    "TEMPORAL_SUPERSESSION": "supersession",
    "REFINEMENT": "refinement",
    "DUPLICATE": "duplicate",
    "INDEPENDENT": "independent",
}
CONFLICTS = {"contradiction", "supersession"}
Coefficients = tuple[NDArray[np.float64], float]


@dataclass
class Tally:
    """Counts of one set of pairs."""

    name: str
    right: Counter[str] = field(default_factory=Counter)
    all: Counter[str] = field(default_factory=Counter)
    flagged: Counter[str] = field(default_factory=Counter)

    def add(self, expected: str, relation: Relation) -> bool:
        """Count a pair; return whether its relation is right."""
        self.all[expected] += 1
        self.flagged[expected] += relation.is_conflict
        is_right = relation.kind.value == expected
        self.right[expected] += is_right
        return is_right

    def conflicts(self) -> str:
        """Return how many conflicts were found, and how many other pairs were flagged."""
        found = sum(self.flagged[kind] for kind in CONFLICTS & self.all.keys())
        there = sum(self.all[kind] for kind in CONFLICTS & self.all.keys())
        others = {kind: n for kind, n in self.all.items() if kind not in CONFLICTS}
        flagged = sum(self.flagged[kind] for kind in others)
        return f"found {_share(found, there)}, flagged {_share(flagged, sum(others.values()))}"

    def kinds(self) -> str:
        """Return how many kinds are right, and the false alarms of each kind."""
        alarms = ", ".join(
            f"{k} {_share(self.flagged[k], n)}" for k, n in sorted(self.all.items()) if k not in CONFLICTS
        )
        rights = ", ".join(f"{k} {_share(self.right[k], n)}" for k, n in sorted(self.all.items()))
        return f"kinds right {_share(self.right.total(), self.all.total())} ({rights}); false alarms: {alarms}"


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {100 * part / whole:.1f} %" if whole else "none"


def sick(path: Path, judge: PairJudge) -> Iterator[tuple[str, Content, Content, Relation]]:
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        _, first, second, label, _ = line.split("\t")
        yield ("contradiction" if label == "contradiction" else label), first, second, judge.compare(first, second)


def cdconv(path: Path, judge: PairJudge) -> Iterator[tuple[str, Content, Content, Relation]]:
    """The two utterances of the second speaker; a contradiction within one of them or of roles needs the others."""
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        _, first, _, second, label = line.split("\t")
        yield ("independent" if label == "0" else "contradiction"), first, second, judge.compare(first, second)


def vault(
    path: Path, meanings: Meanings, *, worded: bool, held_out: bool = True
) -> Iterator[tuple[str, Content, Content, Relation]]:
    """Each domain is judged without the examples of its own attributes, and by coefficients of the other domains."""
    pairs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    fitted = fitted_without(path, meanings) if held_out else {}
    for domain in sorted({pair["domain"] for pair in pairs}):
        own = [pair for pair in pairs if pair["domain"] == domain]
        seen = {fact["predicate"] for pair in own for fact in (pair["existing"][0], pair["new"])}
        judge = PairJudge(
            meanings=meanings, without=() if not held_out else seen | {f"is {predicate}" for predicate in seen}
        )
        for pair in own:
            old, new = pair["existing"][0], pair["new"]
            first, second = (sentence(old, pair["id"]), sentence(new, pair["id"] + "b")) if worded else (old, new)
            with patch.object(specificity, "coefficients", lambda: fitted[domain]) if held_out else nullcontext():  # noqa: B023
                relation = judge.compare(first, second)
            yield KINDS[pair["expected_relation"]], first, second, relation


def fitted_without(path: Path, meanings: Meanings) -> dict[str, Coefficients]:
    """Return for each domain the coefficients of specificity that the pairs of the other domains give."""
    pairs = rows(path)
    table = np.array([specificity.features(first, second, meanings) for _, _, first, second in pairs])
    found = {}
    for domain in {row[0] for row in pairs}:
        kept = [n for n, row in enumerate(pairs) if row[0] != domain]
        found[domain] = fit(table[kept], [pairs[n][1] for n in kept])
    return found


def own_pairs(path: Path, judge: PairJudge, half: int) -> Iterator[tuple[str, Content, Content, Relation]]:
    for line in path.read_text(encoding="utf-8").splitlines()[1 + half :: 2]:
        _, _, kind, *texts = line.split("\t")
        first, second = map(_told, texts)
        yield kind, first, second, judge.compare(first, second)


def _told(text: str) -> Content:
    if not text.startswith("["):
        return text
    moment, _, said = text[1:].partition("] ")
    return {"content": said, "timestamp": moment}


def outcomes(path: Path, judge: PairJudge, language: str) -> str:
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    found = Counter(
        (outcome, judge.compare(first, second).outcome == outcome)
        for spoken, outcome, first, second in rows
        if spoken == language
    )
    states = ("superseded", "wrong", "contested")
    return ", ".join(f"{one} {_share(found[one, True], found[one, True] + found[one, False])}" for one in states)


def _report(name: str, judged: Iterator[tuple[str, Content, Content, Relation]], *, verbose: bool) -> Tally:
    tally = Tally(name)
    for expected, first, second, relation in judged:
        if not tally.add(expected, relation) and verbose:
            print(f"  {expected} -> {relation.kind.value}: {first} | {second} | {relation.reason}")
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the judge of pairs.")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the data sets")
    parser.add_argument("--only", default="", help="measure only the sets whose name holds this")
    parser.add_argument("--verbose", action="store_true", help="print the pairs that are judged wrong")
    arguments = parser.parse_args()
    meanings = Meanings(build_text_embedder(load_config()))
    judge = PairJudge(meanings=meanings)
    data, verbose = arguments.data, arguments.verbose
    sets = {
        "SICK": (data / "sick_train.tsv", lambda path: sick(path, judge)),
        "vault, triples": (data / "vault_train.jsonl", lambda path: vault(path, meanings, worded=False)),
        "vault, sentences": (data / "vault_train.jsonl", lambda path: vault(path, meanings, worded=True)),
        "vault as shipped, triples": (
            data / "vault_train.jsonl",
            lambda path: vault(path, meanings, worded=False, held_out=False),
        ),
        "vault as shipped, sentences": (
            data / "vault_train.jsonl",
            lambda path: vault(path, meanings, worded=True, held_out=False),
        ),
        "CDConv": (data / "cdconv_dev.tsv", lambda path: cdconv(path, judge)),
        "own pairs, tuned half": (OWN / "pairs.tsv", lambda path: own_pairs(path, judge, 0)),
        "own pairs, unseen half": (OWN / "pairs.tsv", lambda path: own_pairs(path, judge, 1)),
    }
    for name, (path, judged) in sets.items():
        if path.exists() and arguments.only in name:
            start = time.perf_counter()
            tally = _report(name, judged(path), verbose=verbose and "unseen" not in name)
            took = (time.perf_counter() - start) / tally.all.total()
            print(f"{name}: {tally.conflicts()}; {1e3 * took:.2f} ms a pair, vectors of words included")
            if name not in {"SICK", "CDConv"}:
                print(f"  {tally.kinds()}")
    if arguments.only in "outcomes":
        for language in ("en", "de", "es", "zh"):
            print(f"outcomes, {language}: {outcomes(OWN / 'outcomes.tsv', judge, language)}")


if __name__ == "__main__":
    main()
