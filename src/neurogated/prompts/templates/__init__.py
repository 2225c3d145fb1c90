"""One module for each task: system text, examples, request, and the schema of the answer."""
