"""Pure functions on natural language: words, sentences, keywords, languages, times and names."""
