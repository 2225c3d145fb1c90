"""Names in German, French and Spanish texts."""

# ruff: noqa: E501, ISC004 - paragraphs of prose

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.text.names import names_in

PARAGRAPHS = [
    (
        "Gestern traf Anna Schmidt ihren Bruder in Bremen. Der Hafenmeister Kai Wegner brachte eine Tasse Kaffee und die "
        "Zeitung. Siemens kaufte die Firma Lindner. Danach fuhr sie mit dem Zug nach Hamburg, weil das Wetter schlecht war.",
        {"Anna Schmidt", "Bremen", "Kai Wegner", "Siemens", "Lindner", "Hamburg"},
    ),
    (
        "Die Katze schläft auf dem Sofa. Kinder spielen im Garten, und am Montag kommt Herr Müller mit Freunden zu Besuch.",
        {"Müller"},
    ),
    (
        "Ursula von der Leyen sprach in Brüssel über die Zukunft der Fischerei. Thomas war krank. Im Frühling baut Lena ein "
        "kleines Boot aus Holz, und Emil hilft ihr nach der Arbeit.",
        {"Ursula von der Leyen", "Brüssel", "Thomas", "Lena", "Emil"},
    ),
    (
        "Hier, Marie Dupont est partie pour Lyon avec son frère. La directrice du Musée d'Orsay a appelé Jean. Ensuite, ils "
        "ont mangé chez Paul. Demain, Air France annulera le vol.",
        {"Marie Dupont", "Lyon", "Musée d'Orsay", "Jean", "Paul", "Air France"},
    ),
    (
        "Le chat dort. En janvier, nous irons à Saint-Malo avec M. Legrand, et l'Italie nous attend cet été.",
        {"Saint-Malo", "Legrand", "Italie"},
    ),
    (
        "Ayer Pedro Gómez fue a Madrid con su hermana. La directora del Museo del Prado llamó a Lucía. Fuimos a Sevilla en "
        "tren. Carmen no quiso venir. El lunes, Iberia canceló el vuelo a Ciudad de México.",
        {"Pedro Gómez", "Madrid", "Museo del Prado", "Lucía", "Sevilla", "Carmen", "Iberia", "Ciudad de México"},
    ),
    ("Tengo un perro y dos gatos. Siempre comemos a las dos en casa de la señora Ruiz.", {"Ruiz"}),
]


@pytest.mark.parametrize(("text", "names"), PARAGRAPHS)
def test_names_are_found_and_other_nouns_are_not(text: str, names: set[str]) -> None:
    found = names_in(text)
    assert set(found) == names
    assert sorted(found, key=text.index) == list(found)


@given(st.text(st.sampled_from("AaéÉ .,'-«3\n"), max_size=60))
def test_every_name_stands_in_the_text(text: str) -> None:
    for name in names_in(text):
        assert name in " ".join(text.split())
