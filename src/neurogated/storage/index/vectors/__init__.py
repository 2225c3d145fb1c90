"""Nearest neighbours among vectors, exact or approximate."""
