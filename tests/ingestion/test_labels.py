"""Speakers before a colon."""

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.ingestion.labels import labelled_speaker


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("Ann: Hello.", "Ann"),
        ("  Dr. Li: Hello.", "Dr. Li"),
        ("Mary Ann Jones: Hello.", "Mary Ann Jones"),
        ("Jean-Paul: oui", "Jean-Paul"),
        ("O'Brien: yes", "O'Brien"),
        ("Zoë\uff1aHello.", "Zoë"),
        ("Ann:", None),
        ("ann: Hello.", None),
        ("I think so: yes", None),
        ("https://example.org", None),
        ("At 10:30 we left.", None),
        ("One Two Three Four: no", None),
        ("X" * 50 + ": no", None),
        ("", None),
    ],
)
def test_a_name_before_a_colon_is_a_label(text: str, speaker: str | None) -> None:
    assert labelled_speaker(text) == speaker


def speakers(memory: NeuroGraphMemory, *texts: str, role: str | None = None) -> list[str | None]:
    for text in texts:
        memory.add({"role": role, "content": text} if role else text, session_id="s")
    return [node.speaker for node in memory.store.all_nodes()]


def memory(**settings: object) -> NeuroGraphMemory:
    return NeuroGraphMemory(MemoryConfig.from_mapping({"storage": "memory", "embedding_name": "hash", **settings}))


@pytest.mark.parametrize("role", [None, "user"])
def test_a_session_of_labelled_turns_has_speakers(role: str | None) -> None:
    with memory() as kept:
        assert speakers(kept, "Ann: Hello.", "Bo: Hi!", "Ann: Bye.", role=role) == ["Ann", "Bo", "Ann"]


def test_a_given_name_wins() -> None:
    with memory() as kept:
        kept.add({"role": "user", "name": "Bo", "content": "Ann: Hello."}, session_id="s")
        (node,) = kept.store.all_nodes()
        assert node.speaker == "Bo"
