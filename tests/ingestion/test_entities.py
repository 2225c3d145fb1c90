"""Finding the names in a text."""

import pytest

from neurogated.core.ports import EntityFinder
from neurogated.ingestion.analysers import OfflineEntityFinder
from tests.golden import rows


@pytest.mark.parametrize(
    ("text", "names"),
    rows(__file__, "entities"),
)
def test_the_parts_of_a_name_stay_together(text: str, names: list[str]) -> None:
    finder: EntityFinder = OfflineEntityFinder()
    assert finder.find(text) == tuple(names)
