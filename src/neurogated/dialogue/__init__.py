"""Short-, mid- and long-term memory of conversations, as algorithms over texts, vectors and counts."""
