"""The log is the truth: deltas and versions, durable."""
