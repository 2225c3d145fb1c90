"""How much work it is to add one message, counted in calls of functions, so that the machine does not matter."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from neurogated import MemoryConfig, NeuroGraphMemory

_MOST_CALLS = 10_000
_WORDS = ("river", "stone", "garden", "winter", "copper", "window", "silver", "market", "forest", "letter")


def _message(number: int) -> dict[str, str]:
    first, second = _WORDS[number % len(_WORDS)], _WORDS[number // len(_WORDS) % len(_WORDS)]
    text = f"We spoke about the {first} near the {second} on day {number}. It was a good walk, and I liked it."
    return {"role": "user" if number % 2 else "assistant", "content": text}


def test_a_message_takes_a_bounded_number_of_calls(tmp_path: Path) -> None:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")) as memory:
        counts = []
        for number in range(60):
            calls = 0

            def count(_frame: object, event: str, _argument: object) -> None:
                nonlocal calls
                calls += event in {"call", "c_call"}

            sys.setprofile(count if number >= 40 else None)
            memory.add(_message(number), user_id="ana", session_id=f"session {number // 20}")
            sys.setprofile(None)
            counts.append(calls)
    assert statistics.median(counts[40:]) < _MOST_CALLS, counts[40:]
