"""The Hippocampus: recalls memories for a question."""
