"""One open graph: its parts, what graphs share, what follows a change, and whole memories."""
