"""The graph index on disk."""
