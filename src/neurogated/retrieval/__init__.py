"""The Hippocampus: a question to memories."""
