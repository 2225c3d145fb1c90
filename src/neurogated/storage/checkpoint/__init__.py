"""Checkpoints: the graph index on disk."""
