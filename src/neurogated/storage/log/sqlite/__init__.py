"""The log as one SQLite file."""
