"""The inverted index of texts: keywords and tags."""
