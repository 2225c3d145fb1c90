"""Causes between texts, found by their words."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated.core.judgements import CausalJudgement
from neurogated.core.ports import CausalJudge
from neurogated.ingestion.causality import OfflineCausalJudge
from tests.golden import rows


def judge(first: str, second: str) -> CausalJudgement:
    judged: CausalJudge = OfflineCausalJudge()
    return judged.judge(first, second)


STORM = "A storm passed over the island on Sunday."


@pytest.mark.parametrize(
    "second",
    rows(__file__, "causes"),
)
def test_an_opening_that_points_back_is_a_link(second: str) -> None:
    assert judge(STORM, second).is_causal


@pytest.mark.parametrize(
    "second",
    rows(__file__, "no_causes"),
)
def test_a_misleading_cue_is_no_link(second: str) -> None:
    assert judge(STORM, second) == CausalJudgement(
        is_causal=False, weight=0.0, reason="no causal cue links the two texts"
    )


@given(st.text(), st.text())
def test_any_text_can_be_judged(first: str, second: str) -> None:
    assert judge(first, second) == judge(first, second)
