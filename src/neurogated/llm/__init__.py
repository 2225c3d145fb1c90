"""Language models: servers, models in process, and what is wrapped around them."""
