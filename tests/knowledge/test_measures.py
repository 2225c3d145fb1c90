"""The judge keeps its figures on some of the package's own pairs; `benchmarks.dissonance` measures all."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from neurogated.knowledge.certainty import ends
from neurogated.knowledge.claims import claims_in, contradicted
from neurogated.knowledge.judge import Content, PairJudge
from neurogated.text.sentences import split_sentences

DATA = Path(__file__).parents[2] / "benchmarks" / "data"
ABOUT = 60  # pairs of each list


def _told(text: str) -> Content:
    if not text.startswith("["):
        return text
    moment, _, said = text[1:].partition("] ")
    return {"content": said, "timestamp": moment}


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
    assert counts["conflict flagged"] >= 0.85 * counts["conflict"]
    assert counts["other flagged"] <= 0.05 * counts["other"]


def test_hardly_a_statement_ends_another_without_a_question() -> None:
    judge, rows = PairJudge(), _some("endings.tsv")
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
