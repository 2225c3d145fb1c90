"""The graph index: derived from a log, and rebuilt from it where need be."""
