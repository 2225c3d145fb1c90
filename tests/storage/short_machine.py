"""Fewer examples of state machines whose stores are slow."""

from __future__ import annotations

from unittest import TestCase

from hypothesis import settings

_EXAMPLES = 8


def shortened(machine: type[TestCase]) -> type[TestCase]:
    """Return a state machine with a third of its examples, or all of them at night.

    In CI the examples are the same in each run, so that more of them find a fault only once.
    """
    if settings.get_current_profile_name() != "nightly":
        machine.settings = settings(machine.settings, max_examples=_EXAMPLES)  # type: ignore[attr-defined]
    return machine
