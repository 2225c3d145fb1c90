"""Text tables."""

from __future__ import annotations

from collections.abc import Sequence

from neurogated.evaluation.metrics import Table

__all__ = ["grid_text", "plain_text"]


def plain_text(table: Table, float_format: str) -> str:
    """Return a table of numbers as text, with the names of its rows in the first column."""
    columns = list(next(iter(table.values()), {}))
    rows = [[name, *(float_format.format(row[column]) for column in columns)] for name, row in table.items()]
    return grid_text(["", *columns], rows)


def grid_text(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells below a header; the first column is left-aligned, the others right-aligned."""
    cells = [header, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = (
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    )
    return "\n".join(line.rstrip() for line in lines)
