"""Tiers: views of a memory by energy, kind and age."""
