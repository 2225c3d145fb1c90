"""The graph index: derived from the log and rebuilt from it when needed."""
