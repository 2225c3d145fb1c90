"""Cognitive dissonance: how two statements relate."""
