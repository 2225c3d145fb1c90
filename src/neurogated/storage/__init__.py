"""The Cortex: storage of graphs and vectors."""
