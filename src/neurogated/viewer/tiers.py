"""Renders the tiers of a memory over time as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from neurogated.tiers.manager import TIERS, Tiers
from neurogated.viewer.page import environment, own_file

_WHOLE = 100


class _Row(NamedTuple):
    """The tiers at one time."""

    tiers: Tiers
    total: int
    widths: Mapping[str, float]
    """The width of each tier's segment, in percent of the largest total."""
    is_present: bool


def render_tiers(course: Sequence[Tiers], now: Tiers, texts: Mapping[str, str]) -> str:
    """Return a page with a bar for each time, and the memories with the most energy.

    Args:
        course: the tiers at each time, in order.
        now: the present tiers; the page shows the memories with the most energy that `texts` has.
        texts: the contents of memories, by id.
    """
    most = max((sum(one.counts.values()) for one in course), default=0) or 1
    rows = [
        _Row(
            one,
            sum(one.counts.values()),
            {name: _WHOLE * count / most for name, count in one.counts.items() if count},
            one.at == now.at,
        )
        for one in course
    ]
    canvas = [(energy, _WHOLE * energy, name, texts[name]) for name, energy in now.most_energy if name in texts]
    return environment().get_template("tiers.html.j2").render(
        rows=rows, names=TIERS, now=now, canvas=canvas, style=own_file("page.css") + own_file("tiers.css")
    )  # fmt: skip
