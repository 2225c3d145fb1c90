"""Causes between texts, found by their words."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated.core.judgements import CausalJudgement
from neurogated.core.ports import CausalJudge
from neurogated.ingestion.causality import OfflineCausalJudge


def judge(first: str, second: str) -> CausalJudgement:
    judged: CausalJudge = OfflineCausalJudge()
    return judged.judge(first, second)


STORM = "A storm passed over the island on Sunday."


@pytest.mark.parametrize(
    "second",
    [
        "Because of this, the ferry stayed in port.",
        "As a direct consequence the ferry stayed in port.",
        "Therefore nobody came to the wedding.",
        "That's why nobody came to the wedding.",
        "Hence the empty shelves in the shop.",
        "So nobody came to the wedding.",
        "This led to empty shelves.",
        "The result was a week without bread.",
        "The ferry, as a result, stayed in port.",
        "Yes. That is why nobody came.",
        "因此渡轮停航。",
        "由于这个原因，没有人来。",
    ],
)
def test_an_opening_that_points_back_is_a_link(second: str) -> None:
    assert judge(STORM, second).is_causal


@pytest.mark.parametrize(
    "second",
    [
        "Then the ferry stayed in port.",
        "Later a storm was painted on the wall of the inn.",
        "Since 1990 the island has had a ferry.",
        "So far nobody has asked for the island.",
        "The walls are thick, so that the island is safe.",
        "The ferry was late because its cook was ill.",
        "It was not because of the storm.",
        "The storm did not lead to any damage.",
        "The fire on Monday had nothing to do with the storm.",
        "Did the ferry stay because of the storm?",
        "So what did they do?",
        "If the storm had come earlier, the ferry would have been late because of it.",
        "The baker has a shop. He lost a bet, and as a result he shaved his head.",
        "The ferry is due to arrive at noon.",
        "That man caused trouble.",
    ],
)
def test_a_misleading_cue_is_no_link(second: str) -> None:
    assert judge(STORM, second) == CausalJudgement(
        is_causal=False, weight=0.0, reason="no causal cue links the two texts"
    )


@given(st.text(), st.text())
def test_any_text_can_be_judged(first: str, second: str) -> None:
    assert judge(first, second) == judge(first, second)
