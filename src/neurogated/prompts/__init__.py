"""Prompts for language models: one module for each task, each with a version."""
