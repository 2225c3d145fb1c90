"""Attributes and their values, and the claims that a language model reads in messages."""
