"""Data types and contracts that all other packages import."""
