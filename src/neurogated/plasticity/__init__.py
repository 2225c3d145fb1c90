"""How use changes the graph."""
