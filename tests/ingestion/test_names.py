"""The texts that mention a name, and the words that a dialogue turn only quotes."""

import pytest

from tests.golden import rows
from tests.ingestion.text_edges import Bench


def test_a_text_leads_to_the_one_whose_title_it_names() -> None:
    bench = Bench()
    bench.add(("She lives in New York City.", None), ("A city of rivers.", "New York City"))
    assert bench.named() == {("None: She lives in New York City.", "New York City: A city of rivers."): 1.0}


@pytest.mark.parametrize("title_first", [True, False])
@pytest.mark.parametrize(
    ("text", "title"),
    rows(__file__, "mentions"),
)
def test_a_name_is_found_without_its_qualifier_in_any_order(text: str, title: str, *, title_first: bool) -> None:
    bench = Bench()
    for pair in [("Words.", title), (text, None)][:: 1 if title_first else -1]:
        bench.add(pair)
    assert bench.named() == {(f"None: {text}", f"{title}: Words."): 1.0}
