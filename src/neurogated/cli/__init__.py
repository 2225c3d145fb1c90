"""The command line."""

from neurogated.cli.app import main

__all__ = ["main"]
