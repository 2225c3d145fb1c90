"""The components of a memory: each holds the session and has the calls of one feature."""
