"""What tests of a memory need: a clock that stands still until it is moved."""

from neurogated.testing.clock import ManualClock

__all__ = ["ManualClock"]
