"""Opens conversation memories, and talks to them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from neurogated.integrations.langgraph.memoryos import MemoryOS

TOPICS = {
    "garden": "The tomato plants in my garden have {n} yellow leaves.",
    "guitar": "I practise the guitar song for concert {n}.",
    "trip": "The early train from Lyon to Geneva is {n} minutes late.",
}
Open = Callable[..., MemoryOS]


def talk(memory: MemoryOS, count: int, *, user: str = "ana", session: str = "s", topic: str = "garden") -> list[str]:
    told = [TOPICS[topic].format(n=n) for n in range(count)]
    return [memory.save_memory(user, session, text, "") for n, text in enumerate(told)]


def exported(memory: MemoryOS, folder: Path, tier: str, user: str = "ana") -> dict[str, Any]:
    memory.export(folder)
    found: dict[str, Any] = json.loads((folder / tier / f"{user}.json").read_text())
    return found


def all_pages(memory: MemoryOS, folder: Path) -> list[dict[str, Any]]:
    """Return all pages of both tiers, in order."""
    short = exported(memory, folder, "short_term")["pages"]
    segments = exported(memory, folder, "mid_term")["segments"].values()
    return sorted([*short, *(page for one in segments for page in one["pages"])], key=lambda page: page["key"])
