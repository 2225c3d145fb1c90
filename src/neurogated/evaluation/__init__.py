"""Measuring a memory on data sets with known answers."""
