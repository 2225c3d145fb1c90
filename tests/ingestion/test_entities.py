"""Finding the names in a text."""

import pytest

from neurogated.core.ports import EntityFinder
from neurogated.ingestion.analysers import OfflineEntityFinder


def find(text: str) -> tuple[str, ...]:
    finder: EntityFinder = OfflineEntityFinder()
    return finder.find(text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The Bank of Orrskell paid Lucan Dray.", ("Bank of Orrskell", "Lucan Dray")),
        ("Philippa Garrow of Pellarwick came.", ("Philippa Garrow", "Pellarwick")),
        ("They sang the Ballad of Edda Marchwyn.", ("Ballad of Edda Marchwyn",)),
        ("They met J. R. Garrow in St. Ives.", ("J. R. Garrow", "St. Ives")),
        ("It was Ludwig van Beethoven.", ("Ludwig van Beethoven",)),
        ("It was Catherine the Great.", ("Catherine the Great",)),
        ("We shop at Marks & Spencer.", ("Marks & Spencer",)),
        ("They flew Apollo 11.", ("Apollo 11",)),
        ("In Paris 20 people met.", ("Paris",)),
        ("We use GitHub, an iPhone and GPT-4.", ("GitHub", "iPhone", "GPT-4")),
        ("The U.S.A. and NASA agreed.", ("U.S.A.", "NASA")),
        ("It hangs in The Hague.", ("The Hague",)),
    ],
)
def test_the_parts_of_a_name_stay_together(text: str, names: tuple[str, ...]) -> None:
    assert find(text) == names
