"""What is said to language models: one module a task, each with a version."""
