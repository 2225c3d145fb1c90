"""Hashes of texts and cosines of vectors."""
