import pytest

from neurogated.core.rendering import render


@pytest.mark.parametrize(
    ("metadata", "rendered"),
    [
        ({}, "I moved to Lyon."),
        ({"title": "Session 1"}, "Session 1\nI moved to Lyon."),
        ({"speaker": "Ann"}, 'Ann said, "I moved to Lyon."'),
        ({"speaker": "Ann", "title": "Session 1"}, 'Session 1\nAnn said, "I moved to Lyon."'),
        ({"speaker": "", "title": ""}, "I moved to Lyon."),
        ({"speaker": None, "title": None}, "I moved to Lyon."),
        ({"document_id": "doc-1", "timestamp": "2026-01-01"}, "I moved to Lyon."),
    ],
)
def test_title_and_speaker_are_written_around_the_content(metadata: dict[str, object], rendered: str) -> None:
    assert render("I moved to Lyon.", metadata) == rendered
