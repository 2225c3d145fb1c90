"""Columns, adjacency and validity of nodes and edges."""
