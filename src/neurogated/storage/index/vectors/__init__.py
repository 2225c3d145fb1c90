"""Nearest neighbours among vectors."""
