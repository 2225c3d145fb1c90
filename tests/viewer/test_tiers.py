"""The page of tiers over time."""

import re
from datetime import timedelta
from html.parser import HTMLParser

from neurogated.testing import ManualClock
from neurogated.tiers.manager import LAYERS, TIERS, Tiers
from neurogated.viewer import render_tiers

_VOID = {"meta", "link", "br"}


class _Balanced(HTMLParser):
    """Checks that every element is closed, and collects the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += f" {data}"


def _tiers(days: int, *counts: int) -> Tiers:
    at = ManualClock().now + timedelta(days=days)
    layers = dict.fromkeys(LAYERS, 0) | {"stable": sum(counts)}
    return Tiers(at, dict(zip(TIERS, counts, strict=True)), layers, (("a", 0.75), ("b", 0.5)), 0.625)


def test_the_page_shows_each_time_and_the_memories_with_the_most_energy() -> None:
    now = _tiers(0, 2, 3, 1, 0)
    page = render_tiers([_tiers(-30, 2, 1, 0, 0), now, _tiers(30, 2, 0, 1, 3)], now, {"a": "<b>bees</b> & 苏州"})
    parser = _Balanced()
    parser.feed(page)
    assert not parser.open
    assert all(day in parser.text for day in ("2025-12-02", "2026-01-01 now", "2026-01-31"))
    assert "<b>bees</b> & 苏州" in parser.text
    assert "0.625" in parser.text
    assert "<b>bees" not in page
    widths = [[float(width) for width in re.findall(r"width:([\d.]+)%", line)] for line in page.splitlines()]
    assert [line for line in widths if line] == [[33.33, 16.67], [33.33, 50.0, 16.67], [33.33, 16.67, 50.0], [75.0]]
