"""One module a task: system text, examples, the form of the request and of the answer."""
