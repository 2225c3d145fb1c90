"""Titles, names and causes that texts give themselves."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.core.judgements import CausalJudgement
from neurogated.core.ports import CausalJudge, EntityFinder
from neurogated.ingestion.analysers import OfflineEntityFinder
from neurogated.ingestion.causality import OfflineCausalJudge
from neurogated.ingestion.titles import find_names, find_title
from tests.golden import rows
from tests.ingestion.text_edges import Bench

# Titles and other names that texts give themselves


@pytest.mark.parametrize(("text", "title"), rows(__file__, "titles"))
def test_a_header_or_a_heading_is_the_title(text: str, title: str | None) -> None:
    assert find_title(text) == title


@pytest.mark.parametrize("text", rows(__file__, "no_titles"))
def test_a_line_that_begins_no_text_is_no_title(text: str) -> None:
    assert find_title(text) is None


pieces = st.sampled_from([*"aA .,:#\n(\"'*-=1北是一的", " is a ", "Title: ", "Ada Quill", "Die ", " ist ein "])
texts = st.lists(pieces, max_size=12).map("".join)


@given(texts)
def test_a_found_title_is_in_the_text_and_is_found_again(text: str) -> None:
    names = find_names(text)
    assert names == find_names(text)
    if names:
        assert names[0] in text
        assert names[0] == find_title(text) == names[0].strip()
        assert re.search(r"[^\W\d_]", names[0])
    assert len(set(names)) == len(names)


# Finding the names in a text


@pytest.mark.parametrize(("text", "names"), rows(__file__, "entities"))
def test_the_parts_of_a_name_stay_together(text: str, names: list[str]) -> None:
    finder: EntityFinder = OfflineEntityFinder()
    assert finder.find(text) == tuple(names)


# Causes between texts, found by their words


def judge(first: str, second: str) -> CausalJudgement:
    judged: CausalJudge = OfflineCausalJudge()
    return judged.judge(first, second)


STORM = "A storm passed over the island on Sunday."


@pytest.mark.parametrize("second", rows(__file__, "causes"))
def test_an_opening_that_points_back_is_a_link(second: str) -> None:
    assert judge(STORM, second).is_causal


@pytest.mark.parametrize("second", rows(__file__, "no_causes"))
def test_a_misleading_cue_is_no_link(second: str) -> None:
    assert judge(STORM, second) == CausalJudgement(
        is_causal=False, weight=0.0, reason="no causal cue links the two texts"
    )


@given(st.text(), st.text())
def test_any_text_can_be_judged(first: str, second: str) -> None:
    assert judge(first, second) == judge(first, second)


# The texts that mention a name, and the words that a dialogue turn only quotes


def test_a_text_leads_to_the_one_whose_title_it_names() -> None:
    bench = Bench()
    bench.add(("She lives in New York City.", None), ("A city of rivers.", "New York City"))
    assert bench.named() == {("None: She lives in New York City.", "New York City: A city of rivers."): 1.0}


@pytest.mark.parametrize("title_first", [True, False])
@pytest.mark.parametrize(("text", "title"), rows(__file__, "mentions"))
def test_a_name_is_found_without_its_qualifier_in_any_order(text: str, title: str, *, title_first: bool) -> None:
    bench = Bench()
    for pair in [("Words.", title), (text, None)][:: 1 if title_first else -1]:
        bench.add(pair)
    assert bench.named() == {(f"None: {text}", f"{title}: Words."): 1.0}
