"""Finds names by their spelling, without a model."""

from __future__ import annotations

from neurogated.text.names import names_in


class OfflineEntityFinder:
    """Finds names by capital letters and quotation marks; see `text/names.py`."""

    def find(self, text: str) -> tuple[str, ...]:
        """Return the names as written, each once, in order of appearance."""
        return names_in(text)
