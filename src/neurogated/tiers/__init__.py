"""Tiers: views of a memory by energy, kind and age, its working canvas, and its facts."""
