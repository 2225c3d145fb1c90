"""The Senses: text to graph."""
