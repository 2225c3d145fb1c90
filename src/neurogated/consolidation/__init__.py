"""Clusters of memories that are used together become facts."""
