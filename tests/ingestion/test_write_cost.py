"""How much work it is to add one message, counted in calls of functions, so that the machine does not matter."""

from __future__ import annotations

import statistics
from functools import partial
from pathlib import Path

from benchmarks.calls import calls_of
from neurogated import MemoryConfig, NeuroGraphMemory

_MOST_CALLS = 4_000
_TOGETHER = 8
_MOST_SHARE = 0.6
"""Of the calls of a message alone, those of one in a list."""
_WORDS = ("river", "stone", "garden", "winter", "copper", "window", "silver", "market", "forest", "letter")


def _message(number: int) -> dict[str, str]:
    first, second = _WORDS[number % len(_WORDS)], _WORDS[number // len(_WORDS) % len(_WORDS)]
    text = f"We spoke about the {first} near the {second} on day {number}. It was a good walk, and I liked it."
    return {"role": "user" if number % 2 else "assistant", "content": text}


def test_a_message_takes_a_bounded_number_of_calls_and_in_a_list_far_fewer(tmp_path: Path) -> None:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")) as memory:
        alone = [
            calls_of(partial(memory.add, _message(number), user_id="ana", session_id=f"session {number // 20}"))
            for number in range(60)
        ]
        together = [
            calls_of(partial(memory.add, [_message(begin + one) for one in range(_TOGETHER)], user_id="ana"))
            for begin in range(60, 100, _TOGETHER)
        ]
    message = statistics.median(alone[40:])
    assert message < _MOST_CALLS, alone[40:]
    assert statistics.median(together) / _TOGETHER < _MOST_SHARE * message, together
