"""Decides how claims, and texts, relate."""
