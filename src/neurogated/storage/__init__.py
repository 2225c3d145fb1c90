"""The Cortex: where graphs and vectors are kept."""
