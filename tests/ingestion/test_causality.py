"""Causes between texts, found by their words."""

from collections.abc import Sequence
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated.core.judgements import CausalJudgement
from neurogated.core.ports import CausalJudge
from neurogated.ingestion.causality import OfflineCausalJudge

PAIRS = [
    tuple(line.split("\t"))
    for line in Path(__file__).with_name("causal_pairs.tsv").read_text(encoding="utf-8").splitlines()
]
CUES = "because of this therefore so led to not 因此 由于 导致 rain 雨 . ? , ， 。 ” \n"


def judge(first: str, second: str) -> CausalJudgement:
    judged: CausalJudge = OfflineCausalJudge()
    return judged.judge(first, second)


def score(pairs: Sequence[tuple[str, ...]]) -> tuple[float, float]:
    """Return precision and recall."""
    found = [label for label, _, first, second in pairs if judge(first, second).is_causal]
    return found.count("causal") / len(found), found.count("causal") / sum(pair[0] == "causal" for pair in pairs)


def test_the_pairs_are_many_and_mixed() -> None:
    assert len(PAIRS) >= 200
    assert {label for label, *_ in PAIRS} == {"causal", "not"}
    assert 0.4 <= sum(label == "causal" for label, *_ in PAIRS) / len(PAIRS) <= 0.6
    assert sum(language == "zh" for _, language, *_ in PAIRS) / len(PAIRS) >= 0.28


def test_precision_and_recall_over_all_pairs() -> None:
    precision, recall = score(PAIRS)
    assert precision >= 0.93
    assert recall >= 0.65


@pytest.mark.parametrize("language", ["en", "zh"])
def test_precision_and_recall_in_each_language(language: str) -> None:
    precision, recall = score([pair for pair in PAIRS if pair[1] == language])
    assert precision >= 0.9
    assert recall >= 0.6


STORM = "A storm passed over the island on Sunday."


@pytest.mark.parametrize(
    "second",
    [
        "Because of this, the ferry stayed in port.",
        "As a result, the ferry stayed in port.",
        "As a direct consequence the ferry stayed in port.",
        "Consequently nobody came to the wedding.",
        "Therefore nobody came to the wedding.",
        "That is why nobody came to the wedding.",
        "That's why nobody came to the wedding.",
        "For this reason nobody came to the wedding.",
        "Hence the empty shelves in the shop.",
        "Thus the shelves stayed empty.",
        "So nobody came to the wedding.",
        "Owing to that, the shelves stayed empty.",
        "This led to empty shelves.",
        "These losses forced the grocer to borrow money.",
        "The result was a week without bread.",
        "The ferry therefore stayed in port.",
        "The ferry, as a result, stayed in port.",
        "“Because of this,” said Ada, “nobody came.”",
        "Yes. That is why nobody came.",
        "The guests had no choice but to swim.",
    ],
)
def test_an_opening_that_points_back_is_a_link(second: str) -> None:
    assert judge(STORM, second).is_causal


@pytest.mark.parametrize(
    "second",
    [
        "因此比赛取消了。",
        "所以比赛取消了。",
        "于是大家回家了。",
        "因而没有人来。",
        "结果，比赛取消了。",
        "这导致了长时间的停电。",
        "由此，比赛推迟到周五。",
        "正因为如此，街上没有人。",
        "比赛因此取消了。",
        "这场灾难使很多人无家可归。",
        "这就是没有人来的原因。",
        "难怪街上没有人。",
    ],
)
def test_a_chinese_opening_that_points_back_is_a_link(second: str) -> None:
    assert judge("昨夜台风登陆。", second).is_causal


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Heavy rain fell on the hills for a week.", "The mill was closed owing to the rain."),
        ("Heavy rain fell on the hills for a week.", "Because it had rained for a week, the mill was closed."),
        ("The boiler exploded at noon.", "The explosion led to a strike."),
        ("The boiler exploded at noon.", "Two men lost an eye because the boiler had exploded."),
        ("The boiler exploded at noon.", "The fire was caused by the explosion."),
        ("The boiler exploded at noon.", "The explosion destroyed the east wing."),
        ("The road was closed.", "With the road closed, the inn lost its guests."),
        ("A fire broke out in the ropewalk.", "The fire was caused by a cigarette."),
        ("The mill closed its doors in May.", "It closed because the owner had died."),
        ("机房停电了两小时。", "停电导致所有订单丢失。"),
        ("机房停电了两小时。", "由于停电，所有订单丢失了。"),
        ("机房停电了两小时。", "订单丢失是由停电引起的。"),
        ("机房停电了两小时。", "订单因停电而丢失。"),
    ],
)
def test_a_cause_or_effect_told_in_the_words_of_the_other_text_is_a_link(first: str, second: str) -> None:
    assert judge(first, second).is_causal


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The council sold the park. It would have grave consequences.", "Nobody came to the next election."),
        ("The council sold the park for one reason:", "its coffers were empty."),
        ("They sold the park, which is why", "the children play in the street."),
        ("他们砍光了树，这埋下了祸根。", "第二年洪水来了。"),
    ],
)
def test_an_end_that_points_ahead_is_a_link(first: str, second: str) -> None:
    assert judge(first, second).is_causal


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The shop closed in May.", "The reason was that its owner had died."),
        ("“Why did you close the shop?” he asked.", "“Because the rent had doubled.”"),
        ("The shop closed in May.", "This was because of a quarrel between the owners."),
        ("商店关门了。", "原因是房租上涨。"),
        ("“商店为什么关门？”", "“因为房租上涨了。”"),
    ],
)
def test_a_reason_given_afterwards_is_a_link(first: str, second: str) -> None:
    assert judge(first, second).is_causal


@pytest.mark.parametrize(
    "second",
    [
        "Then the ferry stayed in port.",
        "After that the ferry stayed in port.",
        "Later a storm was painted on the wall of the inn.",
        "The island has two harbours.",
        "Since 1990 the island has had a ferry.",
        "The ferry has run ever since.",
        "So far nobody has asked for the island.",
        "So many ships lay there that the harbour was full.",
        "The walls are thick, so that the island is safe.",
        "As a result of a bet the baker shaved his head.",
        "The ferry was late because its cook was ill.",
        "It was not because of the storm.",
        "The storm did not lead to any damage.",
        "The storm never caused a flood.",
        "The fire on Monday had nothing to do with the storm.",
        "Did the ferry stay because of the storm?",
        "So what did they do?",
        "If the storm had come earlier, the ferry would have been late because of it.",
        "The baker has a shop. He lost a bet, and as a result he shaved his head.",
        "The shop was closed, so the baker went home.",
        "The ferry is due to arrive at noon.",
        "That year the islanders led their cows to the beach.",
        "That man caused trouble.",
    ],
)
def test_a_misleading_cue_is_no_link(second: str) -> None:
    assert judge(STORM, second) == CausalJudgement(
        is_causal=False, weight=0.0, reason="no causal cue links the two texts"
    )


@pytest.mark.parametrize(
    "second",
    [
        "然后大家去吃饭了。",
        "后来岛上建了一座桥。",
        "面馆因为老板生病停业了。",
        "这不是因为台风。",
        "台风并没有导致停电。",
        "是因为台风吗？",
        "考试结果将在下周公布。",
        "停电与台风无关。",
    ],
)
def test_a_misleading_chinese_cue_is_no_link(second: str) -> None:
    assert not judge("昨夜台风经过小岛。", second).is_causal


def test_where_a_road_leads_is_no_effect() -> None:
    assert not judge("They followed the path.", "It led to a garden.").is_causal
    assert judge("They printed the letters.", "It led to a lawsuit.").is_causal


def test_one_word_in_common_is_not_enough_for_a_clause() -> None:
    assert not judge("The mill has three floors.", "The baker was angry because the mill was late.").is_causal


def test_names_in_common_are_not_enough() -> None:
    assert not judge("Anna Garrow bought a boat.", "They quarrelled because of Anna Garrow.").is_causal


def test_more_overlap_weighs_more() -> None:
    full = judge("Heavy rain fell.", "The mill closed because of heavy rain.")
    half = judge("A little rain fell.", "The mill closed because of heavy rain.")
    assert 0 < half.weight < full.weight <= 1


def test_a_sure_cue_weighs_more_than_a_loose_one() -> None:
    assert judge(STORM, "So nobody came.").weight < judge(STORM, "Consequently nobody came.").weight


def test_the_reason_quotes_the_cue() -> None:
    assert '"As a result"' in judge(STORM, "As a result, nobody came.").reason
    assert '"owing to"' in judge(STORM, "The ferry was late owing to the storm.").reason


@pytest.mark.parametrize(
    ("first", "second"), [("", ""), ("", "Therefore it rained."), ("It rained.", " \n"), ("?", "!")]
)
def test_a_text_without_words_has_no_links(first: str, second: str) -> None:
    assert not judge(first, second).is_causal


@given(st.text(), st.text())
def test_any_text_can_be_judged(first: str, second: str) -> None:
    assert judge(first, second) == judge(first, second)


@given(*[st.lists(st.sampled_from(CUES.split(" "))).map(" ".join)] * 2)
def test_any_text_of_cues_can_be_judged(first: str, second: str) -> None:
    found = judge(first, second)
    assert (found.weight > 0) == found.is_causal
    assert found.reason


@pytest.mark.parametrize(
    "unit", ["because the rain led to it, so ", "The rain fell. ", "由于大雨，", "a", "would soon have "]
)
def test_a_long_text_can_be_judged(unit: str) -> None:
    long = unit * (50_000 // len(unit))
    assert judge(long, "Therefore they left.").is_causal
    judge(STORM, long)
