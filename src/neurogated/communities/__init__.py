"""Communities of nodes that are linked more with one another than with the rest of the graph."""
