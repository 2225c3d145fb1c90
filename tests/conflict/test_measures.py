"""The judge keeps its figures on some of the package's own pairs; `benchmarks.dissonance` measures all."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from neurogated import RelationKind
from neurogated.conflict.certainty import ends
from neurogated.conflict.claims import claims_in, contradicted
from neurogated.conflict.judge import Content, PairJudge
from neurogated.core.sentences import split_sentences

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "benchmarks" / "data"
ABOUT = 60  # pairs of each list


def _told(text: str) -> Content:
    if not text.startswith("["):
        return text
    moment, _, said = text[1:].partition("] ")
    return {"content": said, "timestamp": moment}


def _rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (HERE / name).read_text(encoding="utf-8").splitlines()[1:]]


def _some(name: str) -> list[list[str]]:
    rows = [line.split("\t") for line in (DATA / name).read_text(encoding="utf-8").splitlines()[1:]]
    return rows[:: max(1, len(rows) // ABOUT)]


def test_conflicts_are_found_in_four_languages_and_few_other_pairs_are_flagged(judge: PairJudge) -> None:
    counts: Counter[str] = Counter()
    for _, _, kind, first, second in _some("pairs.tsv"):
        relation = judge.compare(_told(first), _told(second))
        side = "conflict" if kind in {"contradiction", "supersession"} else "other"
        counts[side] += 1
        counts[f"{side} flagged"] += relation.is_conflict
        counts["right"] += relation.kind.value == kind
    assert counts["conflict flagged"] >= 0.85 * counts["conflict"]
    assert counts["other flagged"] <= 0.05 * counts["other"]
    assert counts["right"] >= 0.85 * (counts["conflict"] + counts["other"])


@pytest.mark.parametrize("name", ["duplicates.tsv", "near_duplicates.tsv"])
def test_duplicates_are_told_from_near_misses(judge: PairJudge, name: str) -> None:
    counts: Counter[tuple[bool, bool]] = Counter()
    for _, same, first, second in _some(name):
        counts[same == "1", judge.compare(first, second).kind is RelationKind.DUPLICATE] += 1
    assert counts[True, True] >= 0.98 * (counts[True, True] + counts[False, True])
    assert counts[True, True] >= 0.85 * (counts[True, True] + counts[True, False])


def test_the_judge_of_writes_joins_no_near_misses() -> None:
    judge, found = PairJudge(), 0
    rows = _rows("near_misses.tsv")
    for _, same, first, second in rows:
        pairs = (first, second), (second, first)
        is_joined = any(judge.compare(*pair).kind is RelationKind.DUPLICATE for pair in pairs)
        assert same == "1" or not is_joined, (first, second)
        found += is_joined
    assert found >= 0.85 * sum(same == "1" for _, same, *_ in rows)


def test_few_attacks_on_the_judge_of_writes_succeed() -> None:
    judge = PairJudge()
    counts: Counter[tuple[bool, bool]] = Counter()
    for _, same, first, second in _rows("attacks.tsv"):
        pairs = (first, second), (second, first)
        counts[same == "1", any(judge.compare(*pair).kind is RelationKind.DUPLICATE for pair in pairs)] += 1
    assert counts[False, True] <= 0.16 * (counts[False, True] + counts[False, False])
    assert counts[True, True] >= 0.6 * (counts[True, True] + counts[True, False])


def test_hardly_a_statement_ends_another_without_a_question() -> None:
    judge, rows = PairJudge(), _rows("endings.tsv")
    assert sum(ends(judge, first, second) for _, first, second in rows) <= 0.02 * len(rows)
    for first, second in (
        ("I work at Google.", "I no longer work at Google."),
        ("I live in Leeds.", "I live in York now."),
        ("Ich arbeite in Ulm.", "Ich arbeite nicht mehr in Ulm."),
    ):
        assert ends(judge, first, second)


def test_outcomes_are_told_apart_in_four_languages(judge: PairJudge) -> None:
    rows = _some("outcomes.tsv")
    right = sum(judge.compare(first, second).outcome == outcome for _, outcome, first, second in rows)
    assert right >= 0.85 * len(rows)


def test_claims_in_messages_of_five_languages_conflict_with_earlier_messages() -> None:
    counts: Counter[tuple[str, bool]] = Counter()
    for _, expected, first, second in _some("messages.tsv"):
        claims = [claim for sentence in split_sentences(second) for claim in claims_in(sentence)]
        found = any(contradicted(claim, split_sentences(first), 0.7) is not None for claim in claims)
        counts[expected, found] += 1
    assert counts["1", True] >= 0.8 * (counts["1", True] + counts["1", False])
    assert counts["0", True] == 0
