"""One file for each task: version, system text, request, JSON schema of the answer, and examples."""
