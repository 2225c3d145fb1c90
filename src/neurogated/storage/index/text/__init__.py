"""Keywords and marks of texts."""
