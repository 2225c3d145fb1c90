"""Language models: servers, models in this process, and wrappers with limits, a cache and JSON answers."""
