"""Pure functions on natural language: words, sentences, keywords, languages and times."""
