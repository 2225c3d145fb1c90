"""Tables of examples beside their tests: each line is a JSON array, and lines that begin with # are remarks."""

import json
from pathlib import Path
from typing import Any

__all__ = ["rows"]


def rows(test: str, table: str) -> list[Any]:
    """Return the rows of `table`.jsonl beside a test file, as tuples; a row of one cell is that cell."""
    lines = Path(test).with_name(f"{table}.jsonl").read_text(encoding="utf-8").splitlines()
    found = [tuple(json.loads(line)) for line in lines if line and not line.startswith("#")]
    return [row if len(row) > 1 else row[0] for row in found]
