"""Colours of edge types, which people with colour blindness can also distinguish."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from neurogated.core.edge_type import EdgeType


class Ink(NamedTuple):
    """Colours and dashes of the lines of an edge type."""

    light: str
    """#rrggbb on a light background."""
    dark: str
    """#rrggbb on a dark background."""
    dashes: str = "none"
    """Value of `stroke-dasharray`."""


# Based on Okabe & Ito (2008), but changed so that each has a contrast of 3:1 with its background. Any two have a
# distance of 20 in Lab, also for people without red or green cones.
_KNOWN = {
    "SEQ": Ink("#1f5fbf", "#5b9cff"),
    "SIM": Ink("#b98600", "#f0e442"),
    "CAUSE": Ink("#a82a05", "#f2662b"),
    "ASSOC": Ink("#b3589a", "#e9b6dd"),
    "MENTION": Ink("#00734f", "#17a27a"),
}
_OTHER = (("#2b8cc4", "#7cc8f5"), ("#555b66", "#c3c9d4"), ("#7b4fa3", "#b794e0"))
_DASHES = ("10 3", "3 4", "12 3 3 3")


def ink(edge_type: EdgeType) -> Ink:
    """Return the ink of a type. It depends on the name alone, so it is the same in every page and process."""
    if edge_type.name in _KNOWN:
        return _KNOWN[edge_type.name]
    number = int.from_bytes(hashlib.sha256(edge_type.name.encode()).digest())
    dashes, colours = divmod(number, len(_OTHER))
    return Ink(*_OTHER[colours], _DASHES[dashes % len(_DASHES)])
