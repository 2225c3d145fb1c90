"""Logs: the durable source of truth, as deltas and versions."""
