"""The vocabulary that all rooms share."""
